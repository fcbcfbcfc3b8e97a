"""Approximate dense search compared with faiss, usearch and ScaNN: 100,000 and 1,000,000 vectors of 384 numbers, the best 100.

    python bench/dense_approximate.py [--quick] [--json] [--size 100k] [--engine NAME] [--vectors FILE.npy]

Vectors are those of `bench/dense.py`. Every engine is timed with single queries at the least effort (clusters, or length of the
candidate list of a graph) that finds 95 or 99 in 100 of the exact best. Engines: faiss with inverted files (IVF, as many clusters
as ours, rows as floats or bytes) and with graphs (HNSW, 32 links), usearch (graphs, 32-bit floats) and ScaNN (clusters, bytes,
exact scores of 400), the last two where they are installed. `--engine` measures some of them only (it may be repeated), `--size`
one size; --quick has fewer repeats and neither graphs nor the larger size.

Calls take turns, and the shortest counts. All may use all cores; ours takes one core for a query. "ms" is the time of a query,
"ms of processor time" adds up what all cores did for it. With a filter, half or a fifth of the documents are allowed (drawn):
usearch and ScaNN have no filters in Python, faiss has.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from dense import BATCH, OURS, SIZES, Call, K, Record, Table, drawn, one_by_one, recall, show
from lexfuse.channels.dense.approximate_search import ApproximateSearch
from lexfuse.channels.dense.clusters import Clusters
from lexfuse.channels.dense.flat_search import EVERYTHING, FlatSearch, PassagePooling
from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.data.arrays import Bools
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.kernels.threads import cores
from runner.needs import Needs

NEEDS = Needs(packages=("faiss",))

TARGETS = (0.95, 0.99)
SHARES = (0.5, 0.2)  # of the documents that a filter allows
EFFORTS = (4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512)
IVF, IVF_BYTES, HNSW, USEARCH, SCANN = "faiss IVF", "faiss IVF SQ8", "faiss HNSW", "usearch", "ScaNN"
GRAPHS = (HNSW, USEARCH)
SOME = 16  # queries that are timed

Ask = Callable[[Table], NDArray[Any]]


class Engines:
    """All engines with the same vectors; each is built when it is first asked for, and its time is kept."""

    def __init__(self, passages: Table, queries: Table) -> None:
        """Take the vectors."""
        self.passages, self.queries = passages, queries
        self.part = VectorPart.of(passages)
        self.order = np.arange(len(passages), dtype=np.int32)
        self.seconds: dict[str, float] = {}
        self.clusters = self.timed(OURS, lambda: Clusters.of(self.part))
        self.ours = ApproximateSearch([self.part], self.order, [self.clusters])
        self.ours.prepare()

    def timed(self, name: str, build: Callable[[], Any]) -> Any:
        """What is built, and how long it took."""
        start = time.perf_counter()
        built = build()
        self.seconds[name] = time.perf_counter() - start
        return built

    def exact(self, mask: Bools = EVERYTHING) -> NDArray[Any]:
        """The exact best of all queries."""
        return FlatSearch([self.part], self.order).best(self.queries, K, PassagePooling.BEST, mask)[1].reshape(BATCH, K)

    def own(self, mask: Bools = EVERYTHING) -> list[Ask]:
        """Ours, with more and more effort."""
        return [
            partial(self._own, ApproximateSearch([self.part], self.order, [self.clusters], effort), mask) for effort in EFFORTS
        ]

    def _own(self, search: ApproximateSearch, mask: Bools, queries: Table) -> NDArray[Any]:
        return search.best(queries, K, PassagePooling.BEST, mask)[1].reshape(len(queries), K)

    def faiss(self, name: str) -> Callable[..., list[Ask]]:
        """An index of faiss: called with a filter, or without, it gives the searches with more and more effort."""
        kind = {IVF: f"IVF{len(self.clusters.centres)},Flat", IVF_BYTES: f"IVF{len(self.clusters.centres)},SQ8", HNSW: "HNSW32"}
        index = faiss.index_factory(self.passages.shape[1], kind[name], faiss.METRIC_INNER_PRODUCT)

        def build() -> None:
            index.train(self.passages[:: max(1, len(self.passages) // 128_000)].copy())
            index.add(self.passages)

        def asks(mask: Bools = EVERYTHING) -> list[Ask]:
            packed = np.packbits(mask, bitorder="little")
            chosen = {"sel": faiss.IDSelectorBitmap(packed)} if len(mask) else {}
            return [partial(ask, packed, how(name, effort, chosen)) for effort in EFFORTS]

        def ask(_: Any, parameters: Any, queries: Table) -> NDArray[Any]:
            found: NDArray[Any] = index.search(queries, K, params=parameters)[1]
            return found

        def how(name: str, effort: int, chosen: dict[str, Any]) -> Any:
            if name == HNSW:
                return faiss.SearchParametersHNSW(efSearch=max(K, 4 * effort), **chosen)
            return faiss.SearchParametersIVF(nprobe=effort, **chosen)

        self.timed(name, build)
        return asks

    def usearch(self) -> list[Ask]:
        """A graph of usearch."""
        from usearch.index import Index, MetricKind

        index = Index(ndim=self.passages.shape[1], metric=MetricKind.IP, dtype="f32", connectivity=32)
        self.timed(USEARCH, lambda: index.add(np.arange(len(self.passages)), self.passages))

        def ask(effort: int, queries: Table) -> NDArray[Any]:
            index.expansion_search = max(K, 4 * effort)
            return np.asarray(index.search(queries, K).keys).reshape(len(queries), -1)

        return [partial(ask, effort) for effort in EFFORTS]

    def scann(self) -> list[Ask]:
        """Clusters of ScaNN."""
        import scann

        def build() -> Any:
            trees = len(self.clusters.centres)
            builder = scann.scann_ops_pybind.builder(self.passages, K, "dot_product")
            sample = min(len(self.passages), 128_000)
            return (
                builder.tree(trees, 32, training_sample_size=sample)
                .score_ah(2, anisotropic_quantization_threshold=0.2)
                .reorder(4 * K)
                .build()
            )

        index = self.timed(SCANN, build)

        def ask(effort: int, queries: Table) -> NDArray[Any]:
            found: NDArray[Any] = index.search_batched(queries, leaves_to_search=effort, pre_reorder_num_neighbors=4 * K)[0]
            return found

        return [partial(ask, effort) for effort in EFFORTS]


def measured(calls: dict[str, Call], repeats: int) -> dict[str, tuple[float, float]]:
    """The shortest time of each, in turn, and the least processor time; milliseconds a query."""
    best = dict.fromkeys(calls, (math.inf, math.inf))
    for _ in range(repeats):
        for name, call in calls.items():
            start, before = time.perf_counter(), time.process_time()
            call()
            used = time.process_time() - before, time.perf_counter() - start
            best[name] = min(best[name][0], 1e3 * used[1] / SOME), min(best[name][1], 1e3 * used[0] / SOME)
    return best


def compared(what: str, engines: Engines, ways: dict[str, list[Ask]], exact: NDArray[Any], repeats: int) -> Iterator[Record]:
    """Single queries at each target."""
    reached = {name: [recall(ask(engines.queries), exact) for ask in asks] for name, asks in ways.items()}
    for target in TARGETS:
        enough = {name: [at for at, value in enumerate(values) if value >= target] for name, values in reached.items()}
        some = engines.queries[:SOME]
        calls = {name: partial(one_by_one, ways[name][found[0]], some) for name, found in enough.items() if found}
        times = measured(calls, repeats) if OURS in calls else {}
        for peer in [name for name in times if name != OURS]:
            for unit, mine, theirs in zip(("ms", "ms of processor time"), times[OURS], times[peer], strict=True):
                metric = f"{unit}/query at recall@{K} {target}, {what}"
                yield {"metric": metric, "ours": mine, "peer": peer, "theirs": theirs, "ratio": theirs / mine}


def searches(size: str, passages: Table, queries: Table, names: list[str], repeats: int) -> Iterator[Record]:
    """All comparisons of one size."""
    engines = Engines(passages, queries)
    with_filters = {name: engines.faiss(name) for name in names if name not in (USEARCH, SCANN)}
    ways = {OURS: engines.own()} | {name: asks() for name, asks in with_filters.items()}
    ways |= {name: {USEARCH: engines.usearch, SCANN: engines.scann}[name]() for name in names if name in (USEARCH, SCANN)}
    for peer, theirs in engines.seconds.items():
        ours = engines.seconds[OURS]
        if peer != OURS:
            metric = f"seconds to build, {size}"
            yield {"metric": metric, "ours": ours, "peer": peer, "theirs": theirs, "ratio": theirs / ours}
    yield from compared(size, engines, ways, engines.exact(), repeats)
    for share in SHARES if with_filters else ():
        mask = np.random.default_rng(1).random(len(passages)) < share
        filtered = {OURS: engines.own(mask)} | {name: asks(mask) for name, asks in with_filters.items()}
        yield from compared(f"{share:.0%} allowed, {size}", engines, filtered, engines.exact(mask), repeats)


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100,000 vectors, fewer repeats, no graphs")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--size", choices=list(SIZES), action="append", help="of the table [all; 100k with --quick]")
    parser.add_argument("--engine", choices=[IVF, IVF_BYTES, *GRAPHS, SCANN], action="append", help="to compare with [all]")
    parser.add_argument("--vectors", type=Path, metavar="FILE.npy", help="vectors of your own instead of drawn ones")
    options = parser.parse_args()
    NEEDS.check()
    compiled_is_due(PATIENCE)  # speed is that of the compiled loops, not of the first half second
    faiss.omp_set_num_threads(cores())
    there = [IVF, IVF_BYTES, *(() if options.quick else GRAPHS), SCANN]
    names = options.engine or [name for name in there if "faiss" in name or importlib.util.find_spec(name.lower())]
    table = np.load(options.vectors, allow_pickle=False).astype(np.float32) if options.vectors else None
    sizes = options.size or (["100k"] if options.quick else list(SIZES))
    for size in sizes if table is None else [f"{len(table) - BATCH:,}"]:
        passages, queries = drawn(SIZES[size]) if table is None else (table[:-BATCH], table[-BATCH:])
        for record in searches(size, passages, queries, names, 5 if options.quick else 15):
            show(record, options.json)


if __name__ == "__main__":
    main()
