"""Damages an index in every file and every column of its catalog, and checks that each damage is found, refused or harmless.

    python malformed.py FOLDER [--every 1] [--first 0]

Each damaged index is opened, searched by every kind of channel, verified, changed and rebuilt, in a process of its own, which may
end in an error of LexFuse only. An answer that differs is allowed where `verify` names the damage. Damages of the catalog are
tried with its check sums and, as an older LexFuse or somebody hostile left it, without. It prints one JSON line. ``--every 5``
takes every fifth damage only.
"""

import argparse
import json
import os
import resource
import shutil
import sqlite3
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from lexfuse.channels.citation import CitationLookup
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.channels.late.codec import TokenCodec
from lexfuse.channels.late.retriever import LateRetriever
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import LexFuseError
from lexfuse.storage import stored_channel as parts_of_channels
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.feedback import FeedbackEntry
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings
from lexfuse.text.analysis.vocabulary import Vocabulary

CATALOG = "catalog.sqlite"
SIZE = 8  # numbers of a vector
UNSUMMED = "; no check sums"  # in the name of a damage
TERMS = [f"term{number}" for number in range(20)]
CPU_SECONDS = 60  # far more than any use takes; what goes on without end takes them on an idle machine and on a busy one
QUERIES = Queries.of([Query("q1", "loi common", "fr"), Query("q2", "article L. 3", "fr")])
VALUES = (
    "NULL", "''", "'x'", "x'ff00'", "-1", "0", "1", "9223372036854775807", "1.5e308", "'{}'", "'[1]'", "'{\"kind\": \"late\"}'",
)  # fmt: skip

Damage = tuple[str, Callable[[Path], None]]


def _chance(document: Document) -> np.random.Generator:
    return np.random.default_rng(int(document.id.removeprefix("d")))


def _dense(documents):
    vectors = np.stack([_chance(one).normal(size=SIZE).astype(np.float32) for one in documents])
    return EncodedBlock(VectorPart.of(vectors), len(documents))


def _sparse(documents):
    rows = [np.sort(_chance(one).choice(len(TERMS), 5, replace=False)).astype(np.int32) for one in documents]
    weights = [_chance(one).random(5).astype(np.float32) + 0.1 for one in documents]
    return EncodedBlock(SparsePart.of(list(zip(rows, weights, strict=True)), Vocabulary(TERMS)), len(documents))


def _late(documents):
    tokens = [_chance(one).normal(size=(6, SIZE)).astype(np.float32) for one in documents]
    tokens = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in tokens]
    codec = TokenCodec.trained(np.eye(SIZE, dtype=np.float32), bits=2)  # the same one for all parts
    return EncodedBlock(TokenPart.of(tokens, codec), len(documents))


CHANNELS = {
    "dense": ("dense", _dense, {"approximate": True}),
    "splade": ("sparse", _sparse, {}),
    "colbert": ("late", _late, {"headings": False}),
}


class Asked:
    """The vectors of the queries, as an encoder would give them."""

    dimension, terms, normalises = SIZE, tuple(TERMS), False

    def __init__(self, name: str) -> None:
        """Take the name of the channel."""
        self._name = name

    def encode(self, texts, _side):
        """Vectors of one kind for every text."""
        chance = np.random.default_rng(1)
        if self._name == "splade":
            return [(np.arange(4, dtype=np.int32), np.ones(4, np.float32)) for _ in texts]
        shape = (len(texts), SIZE) if self._name == "dense" else (len(texts), 3, SIZE)
        vectors = chance.normal(size=shape).astype(np.float32)
        return vectors if self._name == "dense" else list(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def sound(folder: Path) -> None:
    """An index with rows in every table, two segments, and channels of every kind, one with clusters."""
    parts_of_channels.CLUSTERED_FROM = 8
    documents = [
        Document(f"d{n}", title="T", text=f"loi common mot{n} article L. {n}", language="fr", number=f"L{n}", headings=("I",))
        for n in range(12)
    ]
    with IndexFolder.create(folder, documents=documents[:10]) as index:
        for name, (kind, encode, options) in CHANNELS.items():
            index.channels.make(name, ChannelSettings(kind, name, "00", options=options))
            index.channels.fill(name, encode)
        index.delete(["d3"])
        index.add(documents[10:])
        index.channels.fill("dense", _dense)
        index.feedback.keep(FeedbackEntry("loi", "d1", 1, rank=2, generation=1))
        index.keep_distributions({"bm25:{}": {"scores": 2}})


def answers(folder: Path) -> list[object]:
    """What the index answers, by every way of asking it."""
    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        found: list[object] = [snapshot.generation, list(snapshot.ids), list(snapshot.documents(list(snapshot.ids)))]
        retrievers = [BM25(snapshot), CitationLookup(snapshot)]
        retrievers += [DenseRetriever(snapshot, Asked("dense"), exact=exact) for exact in (True, False)]
        retrievers += [SparseRetriever(snapshot, encoder=Asked("splade")), LateRetriever(snapshot, Asked("colbert"))]
        found += [retriever.retrieve(QUERIES, 5).as_dict() for retriever in retrievers]
        return [*found, index.feedback.kept(), snapshot.distributions]


def changed(folder: Path) -> None:
    """Change, merge and mend the index."""
    with IndexFolder(folder) as index:
        index.add([Document("d1", text="new"), Document("d20", text="loi")], update=True)
        for name, (_, encode, _) in CHANNELS.items():
            index.channels.fill(name, encode)
        index.delete(["d2"])
        index.compact()


def file_damages(folder: Path) -> Iterator[Damage]:
    """Damages of every file: bytes changed, the end cut off, more at the end, gone, and another file in its place."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in paths:
        name, raw = str(path.relative_to(folder)), path.read_bytes()
        places = sorted({*range(0, len(raw), max(1, len(raw) // 4)), len(raw) - 1} if raw else ())
        for at in places:
            flipped = raw[:at] + bytes([raw[at] ^ (0x80 if at % 2 else 0x01)]) + raw[at + 1 :]
            yield f"{name}: byte {at}", _written(name, flipped)
        for size in sorted({0, len(raw) // 2, max(0, len(raw) - 1)}):
            yield f"{name}: cut to {size}", _written(name, raw[:size])
        yield f"{name}: longer", _written(name, raw + bytes(8))
        yield f"{name}: last numbers are huge", _written(name, raw[:-8] + b"\xff\xff\xff\x7f\xff\xff\xff\x7f")
        yield f"{name}: gone", lambda place, name=name: (place / name).unlink()
        other = next((one for one in paths if one.name == path.name and one.read_bytes() != raw), paths[0])
        yield f"{name}: that of {other.relative_to(folder)}", _written(name, other.read_bytes())


def _written(name: str, raw: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(raw) and None


def catalog_damages(folder: Path) -> Iterator[Damage]:
    """Damages of every column of every table: values of other types and sizes, rows gone or there twice, the table gone."""
    with closing(sqlite3.connect(folder / CATALOG)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        columns = {table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")] for table in tables}
        names = [name for (name,) in connection.execute("SELECT name FROM meta ORDER BY name")]
    statements = [
        f"UPDATE OR IGNORE {table} SET {column} = {value}"  # noqa: S608 -- constants
        for table in tables
        for column in columns[table]
        for value in VALUES
    ]
    statements += [f"UPDATE meta SET value = {value} WHERE name = '{name}'" for name in names for value in VALUES]  # noqa: S608
    statements += [f"DELETE FROM meta WHERE name = '{name}'" for name in names]  # noqa: S608
    statements += [f"DELETE FROM {table}" for table in tables] + [f"DROP TABLE {table}" for table in tables]  # noqa: S608
    for statement in statements:
        yield statement, _executed(statement)
        yield f"{statement}{UNSUMMED}", _executed(statement, "DELETE FROM meta WHERE name = 'digests'")


def _executed(*statements: str) -> Callable[[Path], None]:
    def execute(folder: Path) -> None:
        with closing(sqlite3.connect(folder / CATALOG, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            for statement in statements:
                try:
                    connection.execute(statement)
                except sqlite3.IntegrityError:  # the schema has no room for this damage
                    return
                except sqlite3.OperationalError:  # there is nothing left to damage
                    return

    return execute


def outcome(folder: Path, expected: list[object], *, summed: bool) -> str:
    """What comes of using a damaged index: found, refused, unharmed, or what is wrong; without check sums, also unseen."""
    try:
        with IndexFolder(folder) as index:
            found = index.verify()
    except LexFuseError:
        found = ["refused"]
    try:
        same = answers(folder) == expected
    except LexFuseError:
        return "refused" if found or not summed else "wrong: a search is refused, and verify finds nothing"
    if not same and not found:
        return "wrong: another answer, and verify finds nothing" if summed else "unseen"
    return "found" if found else "unharmed"


def used(name: str, folder: Path, expected: list[object]) -> str:
    """`outcome`, and then changes, each of which may be refused; none may hide the damage of a file from `verify`."""
    told = outcome(folder, expected, summed=UNSUMMED not in name)
    try:
        changed(folder)
        with IndexFolder(folder) as index:
            if name.startswith(("segments", "channels")) and told != "unharmed" and not index.verify():
                return "wrong: a change hides the damage"
    except LexFuseError:
        told += ", not changed"
    try:
        with IndexFolder(folder) as index:
            index.rebuild()
    except LexFuseError:
        told += ", not rebuilt"
    return told


def guarded(name: str, folder: Path, expected: list[object]) -> str:
    """`used` in a process of its own: one that crashes, hangs or ends in another error is told."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        warnings.simplefilter("ignore", RuntimeWarning)  # of numpy, where damaged numbers are none
        try:
            told = used(name, folder, expected)
        except BaseException:
            told = f"wrong: {traceback.format_exc()[-1500:]}"
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read().decode()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return told if code == 0 else f"wrong: ended with {code}"


def main() -> None:
    """Read the arguments and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    wanted = parser.parse_args()
    folder, tried = wanted.folder / "sound", wanted.folder / "damaged"
    sound(folder)
    expected = answers(folder)
    shutil.copytree(folder, tried)
    if (harmless := used("", tried, expected)) != "unharmed":  # and all is loaded and compiled once
        raise RuntimeError(f"the check finds damage where there is none: {harmless}")
    shutil.rmtree(tried)
    told, wrong = Counter(), []
    for name, damage in [*file_damages(folder), *catalog_damages(folder)][wanted.first :: wanted.every]:
        shutil.copytree(folder, tried)
        damage(tried)
        result = guarded(name, tried, expected)
        told[result.split(",")[0].split(":")[0]] += 1
        if result.startswith("wrong"):
            wrong.append({"damage": name, "outcome": result})
        shutil.rmtree(tried)
    line = {"damages": sum(told.values()), "outcomes": dict(told), "with problems": len(wrong), "problems": wrong}
    print(json.dumps(line))  # noqa: T201
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
