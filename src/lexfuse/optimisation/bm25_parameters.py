"""The k1 and b of BM25 that suit a collection best: a full grid on judged queries, without indexing again.

Queries are read once; a point of the grid costs new impacts (one number per posting) and a ranking of every query. The
whole surface is kept, since it shows more than its highest point: whether the choice matters, and whether the grid ended
too soon.

What is best alone need not be best in company, so k1 and b can be chosen together with the weights of a fusion. The other
sources are then asked once for everything that any ranking of BM25 holds, and remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.distribution import levels_of
from lexfuse.channels.lexical.bm25 import BM25, B, IdfForm
from lexfuse.channels.retriever import Mask, Retriever, ScoreBounds, lookup_scores
from lexfuse.data.arrays import F32, F64, read_only
from lexfuse.data.files import write_json
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run, join_runs
from lexfuse.errors import ConfigError, DataError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.measure import Measure
from lexfuse.evaluation.measure_names import parse_measure
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing
from lexfuse.optimisation.cross_validation import FOLDS
from lexfuse.optimisation.fusion_constants import ConstantTrial, TunedConstants, tune_constants
from lexfuse.optimisation.fusion_weights import STEP
from lexfuse.search.candidates import retrieve_all
from lexfuse.search.temporal_filter import SameDay, document_dates, queries_by_day
from lexfuse.storage.snapshot import Snapshot

K1S = (0.3, 0.6, 0.9, 1.2, 1.6, 2.0, 2.8, 4.0)
B_S = (0.0, 0.2, 0.4, 0.6, 0.75, 0.9, 1.0)
SAME = 1e-9  # values that differ by less are equal: sums of floats in another order


@dataclass(frozen=True, slots=True, eq=False)
class TunedBM25:
    """The best point of a grid, and the grid."""

    k1: float
    b: float
    measure: str
    queries: int  # how many were judged
    k: int
    idf: IdfForm
    k1s: tuple[float, ...]
    b_s: tuple[float, ...]
    surface: F64  # mean of the measure, at [k1, b]

    @property
    def value(self) -> float:
        """What the best point reaches, on the queries it was chosen on."""
        return float(self.surface.max())

    @property
    def at_edge(self) -> tuple[str, ...]:
        """Parameters whose best value is the first or last of a longer list, so that a wider grid may find more."""
        sides = (("k1", self.k1, self.k1s, (0.0,)), ("b", self.b, self.b_s, (0.0, 1.0)))
        return tuple(
            name
            for name, best, tried, ends in sides
            if len(tried) > 1 and best in (min(tried), max(tried)) and best not in ends  # beyond 0 and 1 there is nothing
        )

    def retriever(self, snapshot: Snapshot) -> BM25:
        """BM25 with the parameters found."""
        return BM25(snapshot, self.k1, self.b, self.idf)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "k1": self.k1,
            "b": self.b,
            "value": self.value,
            "measure": self.measure,
            "queries": self.queries,
            "k": self.k,
            "idf": self.idf.value,
            "k1s": list(self.k1s),
            "b_s": list(self.b_s),
            "surface": self.surface.tolist(),
            "at_edge": list(self.at_edge),
        }

    def save(self, path: str | Path) -> None:
        """Write everything as JSON, complete or not at all."""
        write_json(path, self.as_json())


def tune_bm25(
    snapshot: Snapshot,
    queries: Queries,
    qrels: Qrels,
    measure: Measure | str,
    *,
    k1s: Sequence[float] = K1S,
    b_s: Sequence[float] = B_S,
    k: int = 1000,
    idf: IdfForm = IdfForm.LUCENE,
    within: Mask | None = None,
    before_query_date: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> TunedBM25:
    """The k1 and b with the highest mean of a measure over the judged queries; `progress` gets the number of points done.

    Between equal points the smallest k1 wins, then the b nearest to 0.75, then the smaller b. With ``before_query_date``
    the candidates of each query are the documents dated before it.

    >>> queries, qrels = Queries.of([Query("q", "inscription gratuite", "fr")]), Qrels.of([("q", "lib-2", 1)])
    >>> tuned = tune_bm25(snapshot, queries, qrels, "RR", k1s=[1.2], b_s=[0.0, 1.0])
    >>> tuned.b, tuned.surface.tolist()
    (1.0, [[1.0, 1.0]])
    """
    measure = parse_measure(measure) if isinstance(measure, str) else measure
    k1s, b_s = _grid("k1", k1s), _grid("b", b_s)
    judged = [at for at, id in enumerate(queries.ids) if id in qrels.queries]
    if not judged:
        raise DataError("no query has judgements; give the queries and the judgements of the same split")
    queries = queries.select(judged)
    if before_query_date:
        groups = list(queries_by_day(queries, document_dates(snapshot), within))
    else:
        groups = [SameDay(np.arange(len(queries)), queries, within)]
    rows = [group.rows for group in groups]
    reader = BM25(snapshot)
    read = [reader.read(group.queries) for group in groups]
    surface = np.zeros((len(k1s), len(b_s)))
    evaluated = 0
    for done, (row, column) in enumerate(np.ndindex(surface.shape), start=1):
        point = BM25(snapshot, k1s[row], b_s[column], idf)
        runs = [point.rank(g.queries, encoded, k, within=g.within) for g, encoded in zip(groups, read, strict=True)]
        evaluation = evaluate(qrels, join_runs("bm25", queries, rows, runs), [measure])
        surface[row, column] = evaluation.mean(measure)
        evaluated = len(evaluation.queries)
        progress(done)
    k1, b = best_bm25_point(k1s, b_s, surface)
    return TunedBM25(k1, b, str(measure), evaluated, k, idf, k1s, b_s, read_only(surface))


def best_bm25_point(k1s: Sequence[float], b_s: Sequence[float], surface: F64) -> tuple[float, float]:
    """The highest point of a surface; ties go to the smallest k1, then to the b nearest to 0.75, then to the smaller b.

    >>> best_bm25_point([0.9, 1.2], [0.4, 0.8], np.array([[0.5, 0.5], [0.5, 0.1]]))
    (0.9, 0.8)
    """
    rows, columns = np.nonzero(surface >= surface.max() - SAME)
    points = ((k1s[row], b_s[column]) for row, column in zip(rows.tolist(), columns.tolist(), strict=True))
    return min(points, key=lambda point: (point[0], abs(point[1] - B), point[1]))


def _grid(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """The values of one parameter, ascending, each once."""
    if not len(values):
        raise ConfigError(f"the grid has no value of {name}; give at least one")
    return tuple(sorted({float(value) for value in values}))


@dataclass(frozen=True, slots=True, eq=False)
class _CachedRetriever:
    """A source whose rankings are already known."""

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
    >>> from lexfuse.fusion.convex import Convex
    >>> queries = Queries.of([Query("p", "inscription gratuite", "fr"), Query("q", "cotisation annuelle", "fr")])
    >>> qrels, others = Qrels.of([("p", "lib-2", 1), ("q", "lib-2", 1)]), [TfIdf(snapshot)]
    >>> tune_bm25_and_weights(snapshot, queries, qrels, "RR", others, Convex(), k1s=[1.2], b_s=[0.0, 1.0], folds=2).trials
    ('k1 1.2, b 0', 'k1 1.2, b 1')
    """
    if not others:
        raise ConfigError("k1 and b are tuned jointly with the weights of other sources; for BM25 alone take tune_bm25")
    encoded = BM25(snapshot).read(queries)
    points = [BM25(snapshot, k1, b) for k1 in sorted(set(k1s)) for b in sorted(set(b_s))]
    rankings = [point.rank(queries, encoded, depth, within=within) for point in points]
    runs = retrieve_all(others, queries, depth, within=within)
    rescored = fusion.missing is Missing.RESCORE
    known = _asked(queries, others, [*rankings, *runs]) if rescored else []

    def trials() -> Iterator[ConstantTrial]:
        for done, (point, ranking) in enumerate(zip(points, rankings, strict=True), start=1):
            union = union_of([ranking, *runs], [point, *known] if rescored else None, queries)
            union = replace(union, levels=tuple(levels_of(one) for one in (point, *others)))
            yield ConstantTrial(f"k1 {point.k1:g}, b {point.b:g}", union, fusion)
            progress(done)

    return tune_constants(trials(), qrels, measure, step=step, folds=folds, seed=seed)


def _asked(queries: Queries, others: Sequence[Retriever], runs: Sequence[Run]) -> list[_CachedRetriever]:
    """What every source says about all that any ranking holds."""
    everything = union_of([replace(run, name=str(at)) for at, run in enumerate(runs)])
    zeros = np.zeros(len(everything), dtype=np.float32)
    pairs = Run("all", everything.queries, everything.docs, everything.offsets, everything.doc, zeros)
    return [_CachedRetriever(one.bounds, replace(pairs, score=one.score(queries, pairs))) for one in others]
