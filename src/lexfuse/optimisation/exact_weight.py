"""The best weight of two sources, exactly: the ranking changes at finitely many alphas only.

With (1 - alpha) on the first source and alpha on the second, the score of every candidate is a line in alpha, and the order of
two candidates changes only where their lines cross (the bounds L and U in the proof of BRUCH's theorem 4.5 are such points).
So a measure is a step function of alpha: all its steps are found, none is jumped over as a grid may do. Ties that hold for all
alphas go by document id, as everywhere.

Steps of one query that a measure with a cutoff cannot see (beyond the cutoff) are left out. Fused scores are compared as 32-bit
floats, so that the order of two candidates within about 1e-7 of their crossing is a matter of rounding; plateaus narrower than
that are not chosen as long as there are wider ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lexfuse.data.arrays import F64, I32, I64
from lexfuse.data.ids import Ids
from lexfuse.errors import ConfigError
from lexfuse.evaluation.relevance_table import RelevanceTable
from lexfuse.kernels.compilation import read_only_view
from lexfuse.optimisation.weight_evaluator import WeightEvaluator

_CELLS = 2_000_000  # ranks are laid out in blocks of about this many numbers
_DECIMALS = 12  # of alpha; crossings that are nearer to each other are one
_LEVEL = 1e-10  # means that differ by less are equal: sums of floats in another order
NARROW = 1e-7  # plateaus below this width are left to rounding


@dataclass(frozen=True, slots=True)
class Plateau:
    """An interval of alpha on which a mean is constant; `value` is that mean."""

    low: float
    high: float
    value: float

    @property
    def middle(self) -> float:
        """The alpha that is farthest from both ends."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True, eq=False)
class ExactCurve:
    """A measure as a step function of alpha, query by query: where each step is, how high, and of which query.

    >>> curve = ExactCurve(np.array([0.5, 1.0]), np.array([0.25, 0.75]), np.array([0.5, -0.5]), np.array([0, 1]))
    >>> curve.best()
    Plateau(low=0.25, high=0.75, value=1.0)
    """

    begin: F64  # the value of every query just above alpha = 0
    alphas: F64  # of all steps, rising
    steps: F64  # what the query's value changes by
    query: I64

    def means(self, queries: I64 | None = None) -> tuple[F64, F64]:
        """The ends of all plateaus, from 0 to 1, and the mean over some queries (all of them if not given) on each."""
        chosen = np.ones(len(self.begin), dtype=np.bool_) if queries is None else np.zeros(len(self.begin), dtype=np.bool_)
        if queries is not None:
            chosen[queries] = True
        mine = chosen[self.query]
        alphas, starts = np.unique(self.alphas[mine], return_index=True)
        jumps = np.add.reduceat(self.steps[mine], starts) if len(starts) else np.empty(0)
        values = self.begin[chosen].sum() + np.concatenate(([0.0], np.cumsum(jumps)))
        return np.concatenate(([0.0], alphas, [1.0])), values / chosen.sum()

    def best(self, queries: I64 | None = None) -> Plateau:
        """The widest of the plateaus with the highest mean; of equally wide ones the one nearest to equal weights."""
        ends, means = self.means(queries)
        changes = np.flatnonzero(np.abs(np.diff(means)) > _LEVEL) + 1
        first, last = np.concatenate(([0], changes)), np.concatenate((changes, [len(means)]))
        low, high = ends[first], ends[last]
        wide = np.flatnonzero(high - low >= min(NARROW, float((high - low).max())))
        level = means[first]
        highest = wide[level[wide] >= level[wide].max() - _LEVEL]
        away = np.abs((low[highest] + high[highest]) / 2 - 0.5)
        at = int(highest[np.lexsort((away.round(12), -(high - low)[highest].round(12)))[0]])
        return Plateau(float(low[at]), float(high[at]), float(means[first[at]]))

    @property
    def highest(self) -> F64:
        """The value of every query at its best alpha between 0 and 1; no alpha for all can pass their mean."""
        found = self.begin.copy()
        order = np.argsort(self.query, kind="stable")
        starts = np.searchsorted(self.query[order], np.arange(len(self.begin) + 1))
        for at, begin in enumerate(self.begin.tolist()):
            heights = begin + np.cumsum(self.steps[order[starts[at] : starts[at + 1]]])
            found[at] = heights.max(initial=begin)
        return found


def exact_curve(evaluator: WeightEvaluator) -> ExactCurve:
    """The step function of a measure over alpha, the weight of the second of two sources.

    >>> from lexfuse.fusion.convex import Convex
    >>> union = union_of([Run.of("a", {"q": {"x": 3.0, "y": 1.0, "z": 0.0}}), Run.of("b", {"q": {"y": 4.0, "x": 2.0, "z": 0.0}})])
    >>> curve = exact_curve(WeightEvaluator.of_fusion(union, Convex(), Qrels.of([("q", "y", 1)]), "RR"))
    >>> curve.begin.tolist(), curve.alphas.round(4).tolist(), curve.steps.tolist()
    ([0.5], [0.5714], [0.5])
    """
    if len(evaluator.values) != 2:
        raise ConfigError(f"the exact curve is for two sources, got {len(evaluator.values)}")
    begin = np.zeros(len(evaluator.template.queries))
    found: list[tuple[F64, F64, int]] = []
    for row in range(len(evaluator.union.queries)):
        if evaluator.starts[row] == evaluator.starts[row + 1]:
            continue
        query = int(evaluator.template.hit_query[evaluator.starts[row]])
        alphas, values = _of_query(evaluator, row, query)
        begin[query] = values[0]
        changed = np.flatnonzero(np.diff(values)) + 1
        found.append((alphas[changed - 1], np.diff(values)[changed - 1], query))
    alphas = np.concatenate([one for one, _, _ in found]) if found else np.empty(0)
    steps = np.concatenate([one for _, one, _ in found]) if found else np.empty(0)
    owner = np.repeat(np.array([one for _, _, one in found], dtype=np.int64), [len(one) for one, _, _ in found])
    order = np.argsort(alphas, kind="stable")
    return ExactCurve(begin, alphas[order], steps[order], owner[order])


def _of_query(evaluator: WeightEvaluator, row: int, query: int) -> tuple[F64, F64]:
    """The alphas at which the ranks of a query's hits change, and the measure before the first and after each of them."""
    from lexfuse.kernels.weight_tuning_numba import crossings

    union = evaluator.union
    here = slice(int(union.offsets[row]), int(union.offsets[row + 1]))
    mine = slice(int(evaluator.starts[row]), int(evaluator.starts[row + 1]))
    ranks, starts, alphas, steps = crossings(
        read_only_view(evaluator.values[0, here]),
        read_only_view(evaluator.values[1, here]),
        read_only_view(union.order[here]),
        read_only_view(evaluator.hits[mine] - here.start),
    )
    hit = np.repeat(np.arange(len(ranks)), np.diff(starts))
    seen = _seen(ranks, alphas.round(_DECIMALS), hit, steps, evaluator.measure.cutoff)
    points, blocks = [], []
    for crossed, table in _rank_tables(*seen):
        points.append(crossed)
        blocks.append(_values(evaluator, table, query, evaluator.template.hit_grade[mine]))
    return np.concatenate(points), np.concatenate(blocks)


def _seen(ranks: I32, alphas: F64, hit: I64, steps: I32, cutoff: int | None) -> tuple[I64, F64, I64, I64]:
    """First ranks and all events by alpha, without those beyond the cutoff: every such rank counts as the one after it."""
    order = np.lexsort((alphas, hit))
    alphas, hit, changes = alphas[order], hit[order], steps[order].astype(np.int64)
    limit = np.iinfo(np.int32).max if cutoff is None else cutoff + 1
    total = np.cumsum(changes)
    begins = np.searchsorted(hit, np.arange(len(ranks)))  # of the events of each hit
    before_all = np.concatenate(([0], total))[begins]
    after = ranks[hit] + total - before_all[hit]
    clipped = np.minimum(after, limit) - np.minimum(after - changes, limit)
    kept = np.flatnonzero(clipped)
    kept = kept[np.argsort(alphas[kept], kind="stable")]
    return np.minimum(ranks, limit).astype(np.int64), alphas[kept], hit[kept], clipped[kept]


def _rank_tables(ranks: I64, alphas: F64, hit: I64, changes: I64) -> Iterator[tuple[F64, I64]]:
    """Distinct alphas with the ranks of all hits after each, in blocks; the very first row holds the ranks before them all."""
    points, starts = np.unique(alphas, return_index=True)
    ends = np.append(starts[1:], len(alphas))
    yield np.empty(0), ranks[None, :]
    rows = max(1, _CELLS // max(len(ranks), 1))
    for first in range(0, len(points), rows):
        some = slice(first, min(first + rows, len(points)))
        events = slice(int(starts[some][0]), int(ends[some][-1]))
        table = np.zeros((len(points[some]), len(ranks)), dtype=np.int64)
        np.add.at(table, (np.searchsorted(points[some], alphas[events]), hit[events]), changes[events])
        table[0] += ranks
        table = np.cumsum(table, axis=0)
        yield points[some], table
        ranks = table[-1]


def _values(evaluator: WeightEvaluator, table: I64, query: int, grades: I32) -> F64:
    """The measure of one query for every row of ranks: each row is one query with the same judgements."""
    rows, hits = table.shape
    by_rank = np.argsort(table, axis=1, kind="stable")
    template = evaluator.template
    judged = template.relevant_grade[template.relevant_query == query]
    aligned: RelevanceTable = replace(
        template,
        queries=Ids(map(str, range(rows))),
        relevant_query=np.repeat(np.arange(rows), len(judged)),
        relevant_grade=np.tile(judged, rows),
        hit_query=np.repeat(np.arange(rows), hits),
        hit_rank=np.take_along_axis(table, by_rank, axis=1).ravel(),
        hit_grade=grades[by_rank].ravel(),
        returned=np.full(rows, template.returned[query]),
    )
    return evaluator.measure.values(aligned)
