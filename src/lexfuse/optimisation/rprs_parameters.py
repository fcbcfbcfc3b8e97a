"""The parameters of RPRS that suit a collection best: n, k1, b and the depth, in one pass over the similarities.

Similarities do not depend on any of them. For each query sentence the best candidate sentences are found once, for the largest n,
at every depth on the way; all the rest is counting, and of the rankings only the ranks of relevant documents are looked at.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lexfuse.channels.retriever import translated
from lexfuse.data.arrays import I32, I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure, QueryMeasure
from lexfuse.evaluation.measure_names import parse_measure
from lexfuse.evaluation.relevance_table import relevance_table
from lexfuse.kernels.compilation import read_only_view
from lexfuse.kernels.threads import run_on_cores
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsSurface
from lexfuse.rerank.nearest_sentences import nearest_at
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sentence_vectors import CandidateSentences, QuerySentences


def rprs_surface(
    rprs: Rprs,
    queries: Queries,
    run: Run,
    qrels: Qrels,
    measure: Measure | str,
    grid: RprsGrid = RprsGrid(),  # noqa: B008 — frozen
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> RprsSurface:
    """What a measure says about a run that is reranked by RPRS, at every point of a grid.

    Of `rprs` only the channel counts. `progress` gets how many queries are done.

    >>> import tempfile
    >>> from lexfuse.channels.registry import fill_channel, plan_channel
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> from lexfuse.channels.registry import open_retriever
    >>> documents = [Document("a", text="Le bail est nul. Le loyer est dû.", language="fr"),
    ...              Document("b", text="Le bail du juge. Il fait beau. Il pleut.", language="fr")]
    >>> queries, qrels = Queries.of([Query("q", "Le loyer est dû. Le bail est nul.", "fr")]), Qrels.of([("q", "a", 1)])
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
    ...     index.channels.make("sentences", plan_channel("sentences", language="fr"))
    ...     _ = fill_channel(index, "sentences")
    ...     with index.snapshot() as snapshot:
    ...         run, rprs = BM25(snapshot).retrieve(queries, 10), Rprs(open_retriever(snapshot, "sentences"))
    ...         surface = rprs_surface(rprs, queries, run, qrels, "RR", RprsGrid(n=(1, 2), depth=(15,)))
    >>> surface.best, surface.mean(surface.best)
    (RprsPoint(n=1, k1=0.0, b=0.0, depth=15), 1.0)
    """
    chosen = parse_measure(measure) if isinstance(measure, str) else measure
    if not isinstance(chosen, QueryMeasure):
        raise ConfigError(f"{chosen} has no value per query, so RPRS cannot be tuned on it; take AP, nDCG@10 or F1@5")
    template = relevance_table(qrels, run)
    docs = translated(run.docs, run.doc, rprs.sentences.snapshot.ids)
    ranks = np.tile(template.hit_rank.astype(np.int32), (*grid.shape, 1))
    starts = np.searchsorted(template.hit_query, np.arange(len(template.queries) + 1))
    for at, id in enumerate(template.queries):
        first, last = int(starts[at]), int(starts[at + 1])
        if last > first:
            row = run.queries.ordinal(id)
            own = docs[int(run.offsets[row]) : int(run.offsets[row + 1])][: grid.depth[-1]]
            asked, candidates = rprs.reader.query(queries.query(id)), rprs.reader.candidates(own)
            places = template.hit_rank[first:last] - 1
            ranks[..., first:last] = ranks_of_hits(asked, candidates, places, rprs.reader.average_length, grid)
        progress(at + 1)
    values = np.empty((grid.points, len(template.queries)))
    for point, some in enumerate(ranks.reshape(grid.points, -1)):
        values[point] = chosen.values(template.with_ranks(some))
    return RprsSurface(grid, str(chosen), tuple(template.queries), values.reshape(*grid.shape, -1))


def ranks_of_hits(
    query: QuerySentences, candidates: CandidateSentences, places: I64, average_length: float, grid: RprsGrid
) -> I32:
    """The ranks after reranking, at every point of a grid, of the documents at some places (from 0) of the first ranking.

    >>> candidates = CandidateSentences.of([-np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)])
    >>> query, grid = QuerySentences((None,), np.eye(2, dtype=np.float32)[:1]), RprsGrid((1,), (0.0,), (0.0,), (1, 2))
    >>> ranks_of_hits(query, candidates, np.array([0, 1]), 2.0, grid)[:, 0, 0, 0].tolist()
    [[1, 2], [2, 1]]
    """
    from lexfuse.kernels.dot_product_numba import grid_ranks, tallied

    ranks = np.tile(places.astype(np.int32) + 1, (*grid.shape, 1))
    if not len(query):
        return ranks
    found = nearest_at(query.vectors, candidates, grid.n[-1], grid.depth)
    k1s, b_s = (read_only_view(np.array(values, dtype=np.float64)) for values in (grid.k1, grid.b))

    def fill(depth: int, n: int) -> None:
        """The ranks at every k1 and b, for one depth and n."""
        size = min(grid.depth[depth], len(candidates.lengths))
        rows, lengths = found[depth].rows, candidates.lengths[:size]
        owner = candidates.owner[: int(candidates.starts[size])]
        met, uses = tallied(read_only_view(rows), grid.n[n], read_only_view(owner), size)
        scored = lengths > 0
        inside = np.flatnonzero(places < size)
        hits = inside[scored[places[inside]]]
        new = np.empty((len(k1s), len(b_s), len(hits)), dtype=np.int32)
        grid_ranks(
            read_only_view(met), read_only_view(uses), read_only_view(lengths), len(rows), average_length, k1s, b_s,
            read_only_view(candidates.order[:size]), read_only_view(places[hits]), new,
        )  # fmt: skip
        ranks[depth, n][..., hits] = new
        for hit in np.setdiff1d(inside, hits).tolist():  # without sentences: after those that have some, in the old order
            ranks[depth, n][..., hit] = int(scored.sum()) + int((~scored[: int(places[hit])]).sum()) + 1

    def work(first: int, last: int) -> None:
        for one in range(first, last):
            fill(*divmod(one, len(grid.n)))

    run_on_cores(work, len(grid.depth) * len(grid.n), 1)
    return ranks
