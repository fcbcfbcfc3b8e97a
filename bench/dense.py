"""Dense search compared with faiss and numpy: 100,000 and 1,000,000 vectors of 384 numbers, the best 100, exact.

`bench/dense_approximate.py` compares approximate search.

    python bench/dense.py [--quick] [--json] [--vectors FILE.npy]

Vectors are drawn (seed 0): topics, subjects within topics and passages within subjects, with variances that fall off from one
direction to the next as those of encoders do, rotated and of length 1; a query lies near a passage. `--vectors` takes a table
of your own instead (32-bit floats; its last 64 rows are the queries). With --quick there are fewer repeats.

All engines use the same number of threads (all cores that the process may use). Calls alternate and the shortest counts,
because other work may run on the machine; still, quiet machines give steadier figures. Before anything is timed, results are
compared: ours must be those of exact search by faiss. "int8" are rows of one byte a number: for ours these choose candidates
and the ranking is exact; faiss SQ8 ranks by them.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from lexfuse.channels.dense.flat_search import EVERYTHING, FlatSearch, PassagePooling
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.kernels.threads import cores
from runner.needs import Needs

NEEDS = Needs(packages=("faiss",))

K, BATCH, DIMENSION = 100, 64, 384
SIZES = {"100k": 100_000, "1M": 1_000_000}
OURS = "lexfuse"

Table = NDArray[np.float32]
Record = dict[str, Any]
Call = Callable[[], Any]


def drawn(rows: int) -> tuple[Table, Table]:
    """Passages and queries."""
    random = np.random.default_rng(0)
    spread = (1 + np.arange(DIMENSION, dtype=np.float32) / 16) ** -0.5
    rotation = np.linalg.qr(random.standard_normal((DIMENSION, DIMENSION)))[0].astype(np.float32)
    topics = random.standard_normal((200, DIMENSION), dtype=np.float32)
    kinds = topics[random.integers(0, 200, rows // 50)]
    subjects = 0.8 * kinds + random.standard_normal(kinds.shape, dtype=np.float32)
    passages = np.empty((rows, DIMENSION), dtype=np.float32)
    for first in range(0, rows, 10_000):
        count = min(10_000, rows - first)
        some = subjects[random.integers(0, len(subjects), count)] + random.standard_normal((count, DIMENSION), dtype=np.float32)
        passages[first : first + count] = lengthened((some * spread) @ rotation)
    near = passages[random.integers(0, rows, BATCH)]
    return passages, lengthened(near + 0.03 * random.standard_normal((BATCH, DIMENSION), dtype=np.float32))


def lengthened(rows: Table) -> Table:
    """Rows of length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def shortest(repeats: int, calls: dict[str, Call]) -> dict[str, float]:
    """The shortest time of each, in turn."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def compared(metric: str, times: dict[str, float], queries: int) -> Iterator[Record]:
    """Milliseconds a query of ours compared with each peer."""
    for peer, theirs in times.items():
        if peer != OURS:
            ours = times[OURS]
            yield {
                "metric": f"ms/query {metric}",
                "ours": 1e3 * ours / queries,
                "peer": peer,
                "theirs": 1e3 * theirs / queries,
                "ratio": theirs / ours,
            }


def with_numpy(passages: Table, queries: Table) -> None:
    """The usual way: all scores, then the best 100 of each row."""
    scores = queries @ passages.T
    best = np.argpartition(scores, -K, axis=1)[:, -K:]
    np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1), axis=1)


def one_by_one(search: Callable[[Table], Any], queries: Table) -> None:
    """Every query alone."""
    for number in range(len(queries)):
        search(queries[number : number + 1])


def recall(found: NDArray[Any], exact: NDArray[Any]) -> float:
    """How many of the exact best are found."""
    pairs = zip(found.reshape(exact.shape), exact, strict=True)
    return float(np.mean([len(set(some.tolist()) & set(all_.tolist())) / len(all_) for some, all_ in pairs]))


class Exact:
    """All engines with the same vectors."""

    def __init__(self, size: str, passages: Table, queries: Table) -> None:
        """Build them."""
        self.size, self.passages, self.queries = size, passages, queries
        self.order = np.arange(len(passages), dtype=np.int32)
        self.ours = FlatSearch([VectorPart.of(passages)], self.order)
        self.ours.prepare()
        self.flat = faiss.IndexFlatIP(passages.shape[1])
        self.flat.add(passages)
        self.bytes = faiss.IndexScalarQuantizer(passages.shape[1], faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
        self.bytes.train(passages[:100_000])
        self.bytes.add(passages)

    def agreement(self) -> Iterator[Record]:
        """Recall of single queries; stop unless batches are exact."""
        exact = self.flat.search(self.queries, K)[1]
        batch = recall(self.ours.best(self.queries, K)[1], exact)
        if batch < 0.999:
            raise SystemExit(f"ours finds {batch:.4f} of what faiss IndexFlatIP finds; nothing was timed")
        some = self.queries[:16]
        single = np.concatenate([self.ours.best(some[at : at + 1], K)[1] for at in range(len(some))])
        ours, theirs = recall(single, exact[:16]), recall(self.bytes.search(some, K)[1], exact[:16])
        yield {
            "metric": f"recall@{K} int8, {self.size}",
            "ours": ours,
            "peer": "faiss SQ8",
            "theirs": theirs,
            "ratio": ours / theirs,
        }

    def speed(self, repeats: int) -> Iterator[Record]:
        """Batches of 64 and single queries."""
        many = {
            OURS: partial(self.ours.best, self.queries, K),
            "faiss FlatIP": partial(self.flat.search, self.queries, K),
            "numpy": partial(with_numpy, self.passages, self.queries),
        }
        yield from compared(f"batch {BATCH} top-{K}, {self.size}", shortest(repeats, many), BATCH)
        some = self.queries[:8]
        single = {
            OURS: partial(one_by_one, lambda query: self.ours.best(query, K), some),
            "faiss SQ8": partial(one_by_one, lambda query: self.bytes.search(query, K), some),
            "faiss FlatIP": partial(one_by_one, lambda query: self.flat.search(query, K), some),
        }
        yield from compared(f"batch 1 top-{K}, {self.size}", shortest(repeats, single), len(some))

    def filters(self, repeats: int) -> Iterator[Record]:
        """The same with a part of the documents allowed."""
        for share in (0.01, 0.1, 0.9):
            mask = np.random.default_rng(1).random(len(self.passages)) < share
            packed = np.packbits(mask, bitorder="little")
            chosen = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(packed))
            for queries, peer, index in ((self.queries, "faiss FlatIP", self.flat), (self.queries[:8], "faiss SQ8", self.bytes)):
                alone = len(queries) < BATCH
                ask = partial(one_by_one, queries=queries) if alone else (lambda search, queries=queries: search(queries))
                calls = {
                    OURS: partial(ask, lambda query, mask=mask: self.ours.best(query, K, PassagePooling.BEST, mask)),
                    f"{OURS} without filter": partial(
                        ask, lambda query: self.ours.best(query, K, PassagePooling.BEST, EVERYTHING)
                    ),
                    peer: partial(ask, lambda query, index=index, chosen=chosen: index.search(query, K, params=chosen)),
                }
                what = f"batch {1 if alone else BATCH} top-{K}, {share:.0%} filter, {self.size}"
                yield from compared(what, shortest(repeats, calls), len(queries))

    def storages(self, repeats: int) -> Iterator[Record]:
        """Vectors stored in 16 bits and in bytes compared with those in 32."""
        stored = {storage: FlatSearch([VectorPart.of(self.passages, storage=storage)], self.order) for storage in VectorStorage}
        for queries in (self.queries, self.queries[:1]):
            times = {}
            for storage, search in stored.items():
                search.prepare()
                times |= shortest(repeats, {storage.value: partial(search.best, queries, K)})
            for name in ("fp16", "int8"):
                both = {OURS: times[name], f"{OURS} fp32": times["fp32"]}
                yield from compared(f"batch {len(queries)} top-{K} stored as {name}, {self.size}", both, len(queries))


def searches(quick: bool, table: Table | None) -> Iterator[Record]:
    """Exact search, size by size."""
    sizes = SIZES if table is None else {f"{len(table) - BATCH:,}": 0}
    for size, rows in sizes.items():
        passages, queries = drawn(rows) if table is None else (table[:-BATCH], table[-BATCH:])
        large = len(passages) > 200_000
        engines = Exact(size, passages, queries)
        yield from engines.agreement()
        yield from engines.speed((2 if large else 5) if quick else 15)
        if not (quick and large):
            yield from engines.filters(3 if quick else 10)
            yield from engines.storages(3 if quick else 10)


def show(record: Record, as_json: bool) -> None:
    """One line a comparison."""
    if as_json:
        print(json.dumps(record), flush=True)
    else:
        values = f"{record['ours']:12,.4f}  {record['theirs']:12,.4f}"
        print(f"{record['metric']:<52} {values}  {record['ratio']:8.2f} x  {record['peer']}", flush=True)


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description="Dense search compared with faiss and numpy")
    parser.add_argument("--quick", action="store_true", help="fewer repeats: about a minute")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--vectors", type=Path, metavar="FILE.npy", help="vectors of your own instead of drawn ones")
    options = parser.parse_args()
    NEEDS.check()
    compiled_is_due(PATIENCE)  # speed is that of the compiled loops, not of the first half second
    faiss.omp_set_num_threads(cores())
    table = np.load(options.vectors, allow_pickle=False).astype(np.float32) if options.vectors else None
    for record in searches(options.quick, table):
        show(record, options.json)


if __name__ == "__main__":
    main()
