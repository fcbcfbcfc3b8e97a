"""A measure over the simplex of weights: every point of a grid, without ranking anything.

A measure looks only at the ranks of relevant documents, and the rank of a document is one more than the number of candidates
with a higher fused score. So the candidates of a query are fused for every point and counted, never sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lexfuse.data.arrays import F64, I32, I64
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluate.alignment import Alignment, align
from lexfuse.evaluate.bootstrap import Interval, intervals
from lexfuse.evaluate.measures import Measure, QueryMeasure
from lexfuse.evaluate.spelling import parse_measure
from lexfuse.fuse.union import Union
from lexfuse.index.compiled import fixed
from lexfuse.index.threads import cores


@dataclass(frozen=True, slots=True, eq=False)
class WeightSurface:
    """The value of a measure for every point of weights and every judged query.

    >>> surface = WeightSurface(("a", "b"), "RR", np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.5, 1.0], [0.5, 0.0]]))
    >>> surface.means.tolist(), surface.best
    ([0.75, 0.25], 0)
    """

    sources: tuple[str, ...]
    measure: str
    weights: F64  # points x sources
    values: F64  # points x queries

    @property
    def means(self) -> F64:
        """The mean over queries of every point."""
        means: F64 = self.values.mean(axis=1)
        return means

    @property
    def best(self) -> int:
        """The point of the highest mean; of equal ones the one nearest to equal weights, then the first."""
        highest = np.flatnonzero(self.means >= self.means.max() - 1e-12)
        away = np.abs(self.weights[highest] - 1 / len(self.sources)).sum(axis=1)
        return int(highest[int(np.argmin(away))])

    @property
    def oracle(self) -> float:
        """The mean if every query had its best point: an upper bound that no weights for all can pass."""
        return float(self.values.max(axis=0).mean())

    def band(self, *, level: float = 0.05, seed: int = 0) -> list[Interval]:
        """An interval for the mean of every point, from the same draws of queries."""
        return intervals(list(self.values), level=level, seed=seed)

    def on(self, queries: Sequence[int] | I64) -> WeightSurface:
        """The same surface over some of the queries."""
        return replace(self, values=self.values[:, np.asarray(queries, dtype=np.int64)])


def simplex(sources: int, step: float = 0.05) -> F64:
    """Every way to share 1 among so many sources in whole steps, in a fixed order.

    >>> simplex(2, 0.5).tolist(), len(simplex(4, 0.05))
    ([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]], 1771)
    """
    steps = round(1 / step) if step > 0 else 0
    if steps < 1 or abs(steps * step - 1) > 1e-9:
        raise ConfigError(f"the step must divide 1, got {step}; 0.05 is usual")
    if sources < 1:
        raise ConfigError(f"weights need at least one source, got {sources}")
    bars = combinations(range(steps + sources - 1), sources - 1)
    points = [np.diff([-1, *bar, steps + sources - 1]) - 1 for bar in bars]
    return np.array(points, dtype=np.float64) / steps


def surface_of(union: Union, values: F64, qrels: Qrels, measure: Measure | str, weights: F64) -> WeightSurface:
    """The surface of a measure over points of weights, for values that a fusion gives each source (`Fusion.values`).

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fuse.normalise import MinMax
    >>> from lexfuse.fuse.scores import normalised
    >>> from lexfuse.fuse.union import Missing, union_of
    >>> union = union_of([Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0, "x": 1.0}})])
    >>> values = normalised(union, MinMax(), Missing.MIN)
    >>> surface_of(union, values, Qrels.of([("q", "y", 1)]), "RR", simplex(2, 0.5)).means.tolist()
    [1.0, 0.5, 0.5]
    """
    chosen = parse_measure(measure) if isinstance(measure, str) else measure
    if not isinstance(chosen, QueryMeasure):
        raise ConfigError(f"{chosen} has no value per query, so weights cannot be tuned on it; take nDCG@10 or R@100")
    aligned = align(qrels, union.ranked_by("union", np.zeros(len(union)), max(1, len(union))))
    table = _Hits.of(union, aligned, qrels)
    found = np.empty((len(weights), len(aligned.queries)))
    for point, ranks in enumerate(table.ranks(union, values, weights)):
        found[point] = chosen.values(table.aligned(ranks))
    return WeightSurface(union.names, str(chosen), weights, found)


@dataclass(frozen=True, slots=True, eq=False)
class _Hits:
    """The candidates that are relevant, and the alignment that their ranks go into."""

    template: Alignment
    starts: I64  # of the hits of every query of the union
    hits: I64  # candidates
    query: I64  # of every hit, among the evaluated ones
    grade: I32

    @classmethod
    def of(cls, union: Union, aligned: Alignment, qrels: Qrels) -> _Hits:
        evaluated = {name: at for at, name in enumerate(aligned.queries)}
        hits, query, grade, counts = [], [], [], np.zeros(len(union.queries), dtype=np.int64)
        for row, name in enumerate(union.queries):
            if name not in evaluated:
                continue
            judged = {doc: value for doc, value in qrels.judged(name).items() if value > 0}
            for at in range(int(union.offsets[row]), int(union.offsets[row + 1])):
                value = judged.get(union.docs[int(union.doc[at])])
                if value is not None:
                    hits.append(at)
                    query.append(evaluated[name])
                    grade.append(value)
                    counts[row] += 1
        starts = np.concatenate(([0], np.cumsum(counts)))
        return cls(
            aligned, starts, np.array(hits, dtype=np.int64), np.array(query, dtype=np.int64), np.array(grade, dtype=np.int32)
        )

    def ranks(self, union: Union, values: F64, weights: F64) -> I32:
        """The ranks of all hits for every point, computed on all cores."""
        from lexfuse.tune.rankloops import hit_ranks

        fixed_arrays = fixed(union.offsets), fixed(values), fixed(union.order)
        hits = fixed(self.starts), fixed(self.hits)
        blocks = [block for block in np.array_split(weights, min(4 * cores(), len(weights))) if len(block)]
        with ThreadPoolExecutor(cores()) as pool:
            found = list(pool.map(lambda block: hit_ranks(*fixed_arrays, fixed(block), *hits), blocks))
        return np.concatenate(found)

    def aligned(self, ranks: I32) -> Alignment:
        """The alignment with these ranks."""
        order = np.lexsort((ranks, self.query))
        return replace(
            self.template,
            hit_query=self.query[order],
            hit_rank=ranks[order].astype(np.int64),
            hit_grade=self.grade[order],
        )
