"""A measure over the simplex of weights: every point of a grid, for every judged query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lexfuse.data.arrays import F64, I64
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluation.bootstrap import ConfidenceInterval, intervals
from lexfuse.evaluation.measure import Measure
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Union
from lexfuse.optimisation.weight_evaluator import WeightEvaluator


@dataclass(frozen=True, slots=True, eq=False)
class WeightSurface:
    """The value of a measure for every point of weights and every judged query.

    >>> weights, values = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.5, 1.0], [0.5, 0.0]])
    >>> surface = WeightSurface(("a", "b"), "RR", weights, values, ("q1", "q2"))
    >>> surface.means.tolist(), surface.best
    ([0.75, 0.25], 0)
    """

    sources: tuple[str, ...]
    measure: str
    weights: F64  # points x sources
    values: F64  # points x queries
    queries: tuple[str, ...]  # the columns of the values

    @property
    def means(self) -> F64:
        """The mean over queries of every point."""
        means: F64 = self.values.mean(axis=1)
        return means

    @property
    def best(self) -> int:
        """The point of the highest mean; of equal ones the one nearest to equal weights, then the first."""
        return best_point(self.weights, self.means)

    @property
    def oracle(self) -> float:
        """The mean if every query had its best point: an upper bound that no weights for all can pass."""
        return float(self.highest.mean())

    @property
    def highest(self) -> F64:
        """The value of every query at its best point."""
        highest: F64 = self.values.max(axis=0)
        return highest

    def band(self, *, level: float = 0.05, seed: int = 0) -> list[ConfidenceInterval]:
        """An interval for the mean of every point, from the same draws of queries."""
        return intervals(list(self.values), level=level, seed=seed)

    def on(self, queries: Sequence[int] | I64) -> WeightSurface:
        """The same surface over some of the queries."""
        rows = np.asarray(queries, dtype=np.int64)
        return replace(self, values=self.values[:, rows], queries=tuple(self.queries[row] for row in rows.tolist()))


SAME = 1e-12  # means that differ by less are equal: sums of floats in another order


def tied_highest(means: F64) -> I64:
    """The places of the highest of some means; those that differ by rounding only are equal, and NaN is never the highest.

    >>> tied_highest(np.array([0.3, 0.1 + 0.2, 0.2])).tolist()
    [0, 1]
    """
    highest = np.fmax.reduce(means)
    return np.flatnonzero((means >= highest - SAME) | np.isnan(highest))


def first_highest(means: Sequence[float]) -> int:
    """The place of the highest of some means, the first of equal ones.

    >>> first_highest([0.3, 0.1 + 0.2])
    0
    """
    return int(tied_highest(np.asarray(means, dtype=np.float64))[0])


def best_point(weights: F64, means: F64) -> int:
    """The row of the highest mean; of equal ones the one nearest to equal weights, then the first.

    >>> best_point(np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]), np.array([0.3, 0.4, 0.4]))
    1
    """
    highest = tied_highest(means)
    away = np.abs(weights[highest] - 1 / weights.shape[1]).sum(axis=1)
    return int(highest[int(np.argmin(away.round(12)))])


def simplex(sources: int, step: float = 0.05) -> F64:
    """Every way to divide 1 among a number of sources in whole steps, in a fixed order.

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


def surface_of(union: Union, fusion: Fusion, qrels: Qrels, measure: Measure | str, weights: F64) -> WeightSurface:
    """The surface of a measure over points of weights of a fusion.

    >>> from lexfuse.fusion.convex import Convex
    >>> union = union_of([Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0, "x": 1.0}})])
    >>> surface_of(union, Convex(), Qrels.of([("q", "y", 1)]), "RR", simplex(2, 0.5)).means.tolist()
    [1.0, 0.5, 0.5]
    """
    evaluator = WeightEvaluator.of_fusion(union, fusion, qrels, measure)
    return WeightSurface(union.names, str(evaluator.measure), weights, evaluator.at(weights), evaluator.queries)
