"""The k1 and b of BM25 chosen together with the weights of a fusion: what is best alone need not be best in company.

BM25 is ranked anew for every k1 and b, as `lexfuse.optimisation.bm25_parameters` does. The other sources are asked once for
everything that any of these rankings holds, and remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexfuse.channels.distribution import levels_of
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.retriever_protocol import Mask, Retriever, ScoreBounds
from lexfuse.data.arrays import F32
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure
from lexfuse.fusion.composite_retriever import lookup_scores
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Missing, union_of
from lexfuse.optimisation.bm25_parameters import B_S, K1S
from lexfuse.optimisation.cross_validation import FOLDS
from lexfuse.optimisation.fusion_constants import ConstantTrial, TunedConstants, tune_constants
from lexfuse.optimisation.fusion_weights import STEP
from lexfuse.search.candidates import retrieve_all
from lexfuse.storage.snapshot import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class _CachedRetriever:
    """A source that was asked before."""

    bounds: ScoreBounds
    scores: Run

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The remembered scores."""
        return lookup_scores(self.scores, pairs)


def tune_bm25_and_weights(
    snapshot: Snapshot,
    queries: Queries,
    qrels: Qrels,
    measure: Measure | str,
    others: Sequence[Retriever],
    fusion: Fusion,
    *,
    k1s: Sequence[float] = K1S,
    b_s: Sequence[float] = B_S,
    depth: int = 1000,
    within: Mask | None = None,
    step: float = STEP,
    folds: int = FOLDS,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> TunedConstants:
    """The k1 and b of BM25 and the weights of BM25 and other sources (in this order) that are best together.

    >>> from lexfuse.channels.lexical.tfidf import TfIdf
    >>> from lexfuse.data.queries import Query
    >>> from lexfuse.fusion.convex import Convex
    >>> queries = Queries.of([Query("p", "inscription gratuite", "fr"), Query("q", "cotisation annuelle", "fr")])
    >>> qrels, others = Qrels.of([("p", "lib-2", 1), ("q", "lib-2", 1)]), [TfIdf(snapshot)]
    >>> tune_bm25_and_weights(snapshot, queries, qrels, "RR", others, Convex(), k1s=[1.2], b_s=[0.0, 1.0], folds=2).trials
    ('k1 1.2, b 0', 'k1 1.2, b 1')
    """
    if not others:
        raise ConfigError("k1 and b are tuned jointly with the weights of other sources; for BM25 alone take tune_bm25")
    trials = _trials(snapshot, queries, others, fusion, (list(k1s), list(b_s)), depth, within, progress)
    return tune_constants(trials, qrels, measure, step=step, folds=folds, seed=seed)


def _trials(
    snapshot: Snapshot,
    queries: Queries,
    others: Sequence[Retriever],
    fusion: Fusion,
    grid: tuple[list[float], list[float]],
    depth: int,
    within: Mask | None,
    progress: Callable[[int], None],
) -> Iterator[ConstantTrial]:
    reader = BM25(snapshot)
    encoded = reader.read(queries)
    points = [BM25(snapshot, k1, b) for k1 in sorted(set(grid[0])) for b in sorted(set(grid[1]))]
    rankings = [point.rank(queries, encoded, depth, within=within) for point in points]
    runs = retrieve_all(others, queries, depth, within=within)
    rescored = fusion.missing is Missing.RESCORE
    known = _asked(queries, others, [*rankings, *runs]) if rescored else []
    for done, (point, ranking) in enumerate(zip(points, rankings, strict=True), start=1):
        union = union_of([ranking, *runs], [point, *known] if rescored else None, queries)
        members = (point, *others)
        union = replace(union, levels=tuple(levels_of(one) for one in members))
        yield ConstantTrial(f"k1 {point.k1:g}, b {point.b:g}", union, fusion)
        progress(done)


def _asked(queries: Queries, others: Sequence[Retriever], runs: Sequence[Run]) -> list[_CachedRetriever]:
    """What every source says about all that any ranking holds."""
    everything = union_of([replace(run, name=str(at)) for at, run in enumerate(runs)])
    zeros = np.zeros(len(everything), dtype=np.float32)
    pairs = Run("all", everything.queries, everything.docs, everything.offsets, everything.doc, zeros)
    return [_CachedRetriever(one.bounds, replace(pairs, score=one.score(queries, pairs))) for one in others]
