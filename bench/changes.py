"""Changing an index compared with SQLite's FTS5, the index of the standard library: build, add, update, delete, merge, open.

    python bench/changes.py [--quick] [--json]

Reads fr-labour (29,104 articles) from the folder that LEXFUSE_DATA names; with --quick the first 5,000. Both keep the texts,
force every change to disk before they answer, and change the same documents. FTS5 has its own plain tokenizer (unicode61:
no stems, no citations), so it has less to do while building. Seconds of wall clock; a ratio above 1 means that ours is faster
or smaller.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour",))

SOME = 1000  # documents updated and deleted at once
QUICK = 5000


def articles() -> list[Document]:
    """The corpus in the order of its ids."""
    with gzip.open(Path(os.environ["LEXFUSE_DATA"], "fr-labour", "corpus.jsonl.gz"), "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    documents = [
        Document(row["_id"], row["title"], row["text"], "fr", headings=tuple(row["metadata"].get("headings", ()))) for row in rows
    ]
    return sorted(documents, key=lambda document: document.id)


class Fts5:
    """A table of articles in an SQLite file, one transaction a change."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it."""
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute("CREATE VIRTUAL TABLE IF NOT EXISTS articles USING fts5(title, headings, text)")
        self.connection.execute("CREATE TABLE IF NOT EXISTS names (id TEXT PRIMARY KEY, at INTEGER)")

    def add(self, documents: Sequence[Document]) -> None:
        """Insert documents, in the place of those with the same id."""
        with self._change():
            self._remove([document.id for document in documents])
            for document in documents:
                row = self.connection.execute(
                    "INSERT INTO articles VALUES (?, ?, ?)", (document.title, " ".join(document.headings), document.text)
                )
                self.connection.execute("INSERT INTO names VALUES (?, ?)", (document.id, row.lastrowid))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete documents."""
        with self._change():
            self._remove(ids)

    def merge(self) -> None:
        """One b-tree of all, and the space of what was deleted."""
        self.connection.execute("INSERT INTO articles(articles) VALUES ('optimize')")
        self.connection.execute("VACUUM")
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def search(self, words: str) -> int:
        """The ten best by BM25, counted."""
        query = "SELECT rowid FROM articles WHERE articles MATCH ? ORDER BY bm25(articles) LIMIT 10"
        return len(self.connection.execute(query, (" OR ".join(words.split()),)).fetchall())

    def _remove(self, ids: Sequence[str]) -> None:
        one = [(id,) for id in ids]
        self.connection.executemany("DELETE FROM articles WHERE rowid = (SELECT at FROM names WHERE id = ?)", one)
        self.connection.executemany("DELETE FROM names WHERE id = ?", one)

    def _change(self) -> sqlite3.Connection:
        self.connection.execute("BEGIN IMMEDIATE")
        return self.connection


def open_ours(folder: Path, words: str) -> int:
    """Open the index and answer one question."""
    with open_snapshot(folder) as snapshot:
        return len(BM25(snapshot).retrieve(Queries.of([Query("q", words, "fr")]), 10))


def size(path: Path) -> int:
    """Bytes of a file with SQLite's log, or of a folder."""
    files = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.name}*")
    return sum(file.stat().st_size for file in files if file.is_file())


def seconds(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Print one line a change."""
    parser = argparse.ArgumentParser(description="changing an index compared with SQLite's FTS5")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} articles: a quarter of a minute")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    documents = articles()[: QUICK if options.quick else None]
    changed = [replace(document, text=f"{document.text} Modifié.") for document in documents[:SOME]]
    new, words = Document("zz", "Article neuf", "Le préavis dure deux mois.", "fr"), "durée du préavis"
    gone, rest = [document.id for document in documents[:SOME]], [document.id for document in documents[SOME:-SOME]]

    def show(metric: str, ours: float, theirs: float) -> None:
        record = {"metric": metric, "ours": ours, "peer": "sqlite-fts5", "theirs": theirs, "ratio": theirs / ours}
        line = f"{metric:<44} {ours:14,.3f} {theirs:14,.3f} {theirs / ours:8.2f} x  sqlite-fts5"
        print(json.dumps(record) if options.json else line, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "ours"), Path(folder, "theirs.sqlite")
        peer = Fts5(theirs)
        show(
            f"seconds build, {len(documents):,} articles",
            seconds(lambda: IndexFolder.create(ours, documents=documents).close()),
            seconds(lambda: peer.add(documents)),
        )
        show("bytes on disk", size(ours), size(theirs))
        with IndexFolder(ours) as index:
            steps: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
                "seconds open and first answer": (lambda: open_ours(ours, words), lambda: Fts5(theirs).search(words)),
                "seconds add one": (lambda: index.add([new]), lambda: peer.add([new])),
                f"seconds update {SOME:,}": (lambda: index.add(changed, update=True), lambda: peer.add(changed)),
                f"seconds delete {SOME:,}": (lambda: index.delete(gone), lambda: peer.delete(gone)),
                "seconds merge and give space back": (index.compact, peer.merge),
                f"seconds delete all but {SOME:,}": (lambda: index.delete(rest), lambda: peer.delete(rest)),
                "seconds merge again": (index.compact, peer.merge),
            }
            for metric, (we, they) in steps.items():
                show(metric, seconds(we), seconds(they))
            show(f"bytes on disk, {SOME:,} articles left", size(ours), size(theirs))
            start = time.perf_counter()
            if damages := index.verify():
                raise SystemExit("\n".join(damages))
            if not options.json:
                print(f"verified in {time.perf_counter() - start:.3f} s")


if __name__ == "__main__":
    main()
