"""BM25 compared with bm25s (numba backend) and tantivy: queries per second, index building, start-up, disk and memory.

    python bench/lexical.py [--quick] [--json]

Reads fr-labour (questions), cjeu (paragraphs as printed), irled2017 (whole judgments as queries) and scifact from the folder
that the environment variable LEXFUSE_DATA names. A corpus of 1,000,000 passages is cut from the texts of all four: 60 words,
a new passage every 23, in shuffled order (seed 0). With --quick it has 100,000 passages (one every 230 words), and queries
and repeats are fewer.

"from token ids" is retrieval alone: all engines hold the same tokens, and ours and bm25s must give the same scores before
anything is timed. "from text" counts each engine's own analysis of the queries too. One thread everywhere. Batches of the
engines alternate and the shortest counts, because other work may run on the machine; still, quiet machines give steadier
figures. Our ranking is exact with ties broken by id; bm25s leaves ties to chance, tantivy rounds document lengths.

Building from tokens turns token ids into an index in memory (tantivy: on disk). Building from text runs in a separate
process, whose peak memory is reported too; ours writes the catalog with all texts, the others their index only. Start-up: a new
process that imports, opens the index from disk and answers, once with everything that can be compiled before compiled ("warm"),
once with an empty compile cache ("cold"; bm25s keeps none, so both are the same for it). Ours answers a few questions
without compiled code, so the time to some thousand answers, which do load or compile it, is reported as well.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.storage.segments.inverted_file import InvertedFile
from peers.lexical import Bm25sNumba, Ours, Tantivy, Tokens, encode
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour", "cjeu", "irled2017", "scifact"), packages=("bm25s", "tantivy", "Stemmer"))

LANGUAGES = {"fr-labour": "fr", "cjeu": "en", "irled2017": "en", "scifact": "en"}
KINDS = {"fr-labour": "question", "cjeu": "paragraph", "irled2017": "whole-judgment"}
WORDS, EVERY = 60, 23
MILLION = 1_000_000
FILTER = 0.1
QUICK = {"fr-labour": 602, "cjeu": 300, "irled2017": 40}  # queries with --quick

Record = dict[str, Any]
Call = Callable[[], Any]


@dataclass(frozen=True)
class Collection:
    """Documents and queries of one language."""

    language: str
    documents: list[Document]
    queries: Queries

    @property
    def texts(self) -> list[str]:
        """What is indexed of every document, as one text."""
        return [" ".join((document.title, *document.headings, document.text)) for document in self.documents]


def read(name: str) -> Collection:
    """A collection, in the order of its ids, as every index of ours is."""
    folder, language = Path(os.environ["LEXFUSE_DATA"], name), LANGUAGES[name]
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as stream:
        asked = [json.loads(line) for line in stream]
    documents = [
        Document(row["_id"], row["title"], row["text"], language, headings=tuple(row["metadata"].get("headings", ())))
        for row in rows
    ]
    documents.sort(key=lambda document: document.id)
    return Collection(language, documents, Queries.of(Query(row["_id"], row["text"], language) for row in asked))


def passages(count: int) -> list[Document]:
    """Passages cut from all collections, shuffled."""
    cut = []
    for name, language in LANGUAGES.items():
        for text in read(name).texts:
            words = text.split()
            places = range(0, max(len(words) - WORDS // 2, 1), EVERY * MILLION // count)
            cut += [(" ".join(words[at : at + WORDS]), language) for at in places]
    chosen = np.random.default_rng(0).permutation(len(cut))[:count]
    if len(chosen) < count:
        raise SystemExit(f"the collections give {len(cut):,} passages only, {count:,} are needed")
    return [Document(f"{number:07d}", text=cut[at][0], language=cut[at][1]) for number, at in enumerate(chosen.tolist())]


def shortest(repeats: int, calls: dict[str, Call]) -> dict[str, float]:
    """The shortest time of each, in turn."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def compared(metric: str, times: dict[str, float], *, per: int = 0) -> Iterator[Record]:
    """Records of ours compared with each peer: seconds (or bytes), or with `per` things per second; higher ratios are better."""
    ours = times[Ours.name]
    for peer, theirs in times.items():
        if peer != Ours.name:
            shown = (per / ours, per / theirs) if per else (ours, theirs)
            yield {"metric": metric, "ours": shown[0], "peer": peer, "theirs": shown[1], "ratio": theirs / ours}


@dataclass(frozen=True)
class Rivals:
    """All engines with the same tokens."""

    ours: Ours
    bm25s: Bm25sNumba
    tantivy: Tantivy
    tokens: Tokens
    queries: Queries
    kept: Any

    @classmethod
    def of(cls, folder: Path, queries: Queries) -> Rivals:
        """The peers, built from the tokens of our index in a folder."""
        ours = Ours(folder / "ours")
        tokens = Tokens.of(ours.snapshot, queries)
        kept = np.random.default_rng(1).random(len(tokens.rows)) < FILTER
        vocabulary = {term: number for number, term in enumerate(tokens.vocabulary)}
        bm25s = Bm25sNumba.from_tokens([row.tolist() for row in tokens.rows], vocabulary)
        shutil.rmtree(folder / "tantivy-tokens", ignore_errors=True)
        tantivy = Tantivy.from_terms(folder / "tantivy-tokens", joined(tokens), kept)
        return cls(ours, bm25s, tantivy, tokens, queries, kept)

    def asked(self, queries: Queries) -> Rivals:
        """The same engines with other queries."""
        return replace(self, queries=queries, tokens=replace(self.tokens, queries=encode(self.ours.snapshot, queries)))

    def agree(self, within: Any = None) -> None:
        """Stop unless ours and bm25s score alike."""
        rows = self.tokens.queries[:20]
        queries = first(self.queries, 20)
        run = self.ours.by_ids(queries, rows, 100, within)
        theirs = self.bm25s.by_ids([row.tolist() for row in rows], 100, within).scores
        for number, scores in enumerate(np.split(run.score, run.offsets[1:-1])):
            if not np.allclose(theirs[number], np.pad(scores, (0, 100 - len(scores))), rtol=1e-4, atol=1e-4):
                raise SystemExit(f"bm25s scores query {queries.ids[number]} otherwise; nothing was timed")

    def speed(self, what: str, k: int, repeats: int, *, filtered: bool = False) -> Iterator[Record]:
        """Queries per second from token ids."""
        within = self.kept if filtered else None
        self.agree(within)
        rows = [row.tolist() for row in self.tokens.queries]
        ready = [self.tantivy.query([self.tokens.vocabulary[term] for term in row], kept=filtered) for row in rows]
        calls: dict[str, Call] = {
            Ours.name: partial(self.ours.by_ids, self.queries, self.tokens.queries, k, within),
            Bm25sNumba.name: partial(self.bm25s.by_ids, rows, k, within),
            Tantivy.name: partial(self.tantivy.by_query, ready, k),
        }
        yield from compared(f"qps {what} top-{k}", shortest(repeats, calls), per=len(rows))

    def building(self, what: str, repeats: int, folder: Path) -> Iterator[Record]:
        """Seconds to build posting lists from token ids."""
        ids = [row.tolist() for row in self.tokens.rows]
        vocabulary = {term: number for number, term in enumerate(self.tokens.vocabulary)}
        texts = joined(self.tokens)

        def build_tantivy() -> None:
            shutil.rmtree(folder / "tantivy-again", ignore_errors=True)
            Tantivy.from_terms(folder / "tantivy-again", texts)

        InvertedFile.from_rows(self.tokens.rows, self.tokens.vocabulary)  # loads the compiled loops
        calls: dict[str, Call] = {
            Ours.name: partial(InvertedFile.from_rows, self.tokens.rows, self.tokens.vocabulary),
            Bm25sNumba.name: partial(Bm25sNumba.from_tokens, ids, vocabulary),
            Tantivy.name: build_tantivy,
        }
        yield from compared(f"seconds index from tokens, {what}", shortest(repeats, calls))


def joined(tokens: Tokens) -> list[str]:
    """The terms of every document with spaces between them."""
    return [" ".join([tokens.vocabulary[term] for term in row.tolist()]) for row in tokens.rows]


def from_text(what: str, asked: Queries, language: str, ours: Ours, folder: Path, repeats: int) -> Iterator[Record]:
    """Queries per second with each engine's own analysis, on the indexes that `built_from_text` has left."""
    bm25s, tantivy, texts = Bm25sNumba.load(folder / "bm25s"), Tantivy.load(folder / "tantivy", language), list(asked.text)
    calls: dict[str, Call] = {
        Ours.name: partial(ours.by_text, asked, 100),
        Bm25sNumba.name: partial(bm25s.by_text, texts, language, 100),
        Tantivy.name: partial(tantivy.by_text, texts, 100),
    }
    yield from compared(f"qps {what} top-100 from text", shortest(repeats, calls), per=len(asked))


def build_part(engine: str, name: str, folder: Path) -> None:
    """Build one engine's index from text; reported as JSON: seconds, bytes on disk, peak memory."""
    collection = read(name)
    texts = collection.texts
    start = time.perf_counter()
    if engine == Ours.name:
        Ours.from_texts(collection.documents, folder)
    elif engine == Bm25sNumba.name:
        Bm25sNumba.from_texts(texts, collection.language, folder)
    else:
        Tantivy.from_texts(texts, collection.language, folder)
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(json.dumps({"seconds": seconds, "bytes on disk": size, "peak memory": peak_memory()}))


def peak_memory() -> int:
    """The most memory that this process has held, in bytes.

    Where the kernel tells it per program: getrusage would give a new process no less than the one that started it had.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def built_from_text(name: str, folder: Path) -> Iterator[Record]:
    """Each engine's index of a collection, built in a process of its own, where they stay for what follows."""
    told = {}
    for engine, target in ((Ours.name, "ours"), (Bm25sNumba.name, "bm25s"), (Tantivy.name, "tantivy")):
        command = [sys.executable, __file__, "--part", engine, name, str(folder / target)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        told[engine] = json.loads(done.stdout.splitlines()[-1])
    for measure in ("seconds", "bytes on disk", "peak memory"):
        yield from compared(
            f"{measure} index from text, {KINDS[name]}", {engine: values[measure] for engine, values in told.items()}
        )


START_OURS = """
import sys, time
start = time.perf_counter()
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.channels.lexical.bm25 import BM25
questions = open(sys.argv[2], encoding="utf-8").read().splitlines()
BM25(open_snapshot(sys.argv[1])).retrieve(Queries.of(Query(str(at), text, "fr") for at, text in enumerate(questions)), 100)
print(time.perf_counter() - start)
"""
START_BM25S = """
import sys, time
start = time.perf_counter()
import bm25s, Stemmer
questions = open(sys.argv[2], encoding="utf-8").read().splitlines()
retriever = bm25s.BM25.load(sys.argv[1], mmap=True)
tokens = bm25s.tokenize(questions, stopwords="fr", stemmer=Stemmer.Stemmer("french"), show_progress=False)
retriever.retrieve(tokens, k=100, n_threads=1, show_progress=False)
print(time.perf_counter() - start)
"""


def started(code: str, folder: Path, questions: Path, cache: Path) -> float:
    """Seconds to the answers in a new process that keeps what it compiles in a folder."""
    command = [sys.executable, "-c", code, str(folder), str(questions)]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout.splitlines()[-1])


def start_up(folder: Path, asked: Sequence[str], repeats: int) -> Iterator[Record]:
    """Import, open and first answers, with a warm and with a cold compile cache."""
    many = [*asked] * 10
    for count, what in ((1, "first query"), (len(many), f"first {len(many):,} queries")):
        questions = folder / "questions.txt"
        questions.write_text("\n".join(" ".join(text.split()) for text in many[:count]), encoding="utf-8")
        best = {"warm": math.inf, "cold": math.inf, "theirs": math.inf}
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                for state in ("cold", "warm"):
                    best[state] = min(best[state], started(START_OURS, folder / "ours", questions, Path(cache)))
                best["theirs"] = min(best["theirs"], started(START_BM25S, folder / "bm25s", questions, Path(cache)))
        for state in ("warm", "cold"):
            times = {Ours.name: best[state], Bm25sNumba.name: best["theirs"]}
            yield from compared(f"seconds to {what}, {state} compile cache", times)


def collections(folder: Path, quick: bool) -> Iterator[Record]:
    """All figures of the three collections."""
    for name, what in KINDS.items():
        collection = read(name)
        asked = first(collection.queries, QUICK[name] if quick else len(collection.queries))
        here = folder / name
        here.mkdir()
        yield from built_from_text(name, here)
        if name == "fr-labour":
            yield from start_up(here, collection.queries.text, 1 if quick else 5)
        rivals = Rivals.of(here, asked)
        for k in (100, 1000):
            yield from rivals.speed(what, k, 3 if quick else 20)
        yield from rivals.building(what, 2 if quick else 5, here)
        yield from from_text(what, asked, collection.language, rivals.ours, here, 2 if quick else 10)


def first(queries: Queries, count: int) -> Queries:
    """The first of the queries."""
    return Queries.of(queries.query(id) for id in queries.ids[:count])


def million(folder: Path, quick: bool) -> Iterator[Record]:
    """Queries per second on many passages, all and a tenth of them."""
    count = 100_000 if quick else MILLION
    here = folder / "passages"
    here.mkdir()
    Ours.from_texts(passages(count), here / "ours")
    short = "1M" if count == MILLION else f"{count // 1000}k"
    questions, paragraphs = first(read("fr-labour").queries, 300), first(read("cjeu").queries, 100)
    rivals = Rivals.of(here, questions)
    for what, some in (("question", rivals), ("paragraph", rivals.asked(paragraphs))):
        for k in (100, 1000):
            yield from some.speed(f"{what} on {short} passages", k, 3 if quick else 10)
        yield from some.speed(f"{what} on {short} passages, 10% filter", 100, 3 if quick else 10, filtered=True)


def show(record: Record, as_json: bool) -> None:
    """One line a comparison."""
    if as_json:
        print(json.dumps(record), flush=True)
    else:
        values = f"{record['ours']:16,.3f}  {record['theirs']:16,.3f}"
        print(f"{record['metric']:<52} {values}  {record['ratio']:8.2f} x  {record['peer']}", flush=True)


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description="BM25 compared with bm25s and tantivy")
    parser.add_argument("--quick", action="store_true", help="100,000 passages, fewer queries and repeats: a few minutes")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--part", nargs=3, metavar=("ENGINE", "COLLECTION", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    NEEDS.check()
    if options.part:
        build_part(options.part[0], options.part[1], Path(options.part[2]))
        return
    compiled_is_due(PATIENCE)  # queries per second are those of the compiled loops, not of the first half second
    with tempfile.TemporaryDirectory() as folder:
        for part in (collections, million):
            for record in part(Path(folder), options.quick):
                show(record, options.json)


if __name__ == "__main__":
    main()
