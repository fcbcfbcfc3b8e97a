"""Cross-validation: every query is measured with a choice that was made without it.

Queries are dealt to folds by their names and a seed, so that the order of a file does not matter. For each fold everything
that is chosen (weights, their refinement, constants among the candidates) is chosen on the other folds alone, and the fold only
measures it. `paired_difference` says how far a difference on the same queries can be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexfuse.data.arrays import F64, I64
from lexfuse.errors import ConfigError
from lexfuse.evaluation.bootstrap import ConfidenceInterval, difference_interval
from lexfuse.evaluation.significance import differences, paired_test
from lexfuse.evaluation.significance_options import PairedTest
from lexfuse.optimisation.weight_surface import WeightSurface, best_point

FOLDS = 5
LEVEL = 0.05  # of a test


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidated:
    """The value of every query under the choice that was made without its fold, and these choices."""

    queries: tuple[str, ...]
    values: F64  # of every query, held out
    fold: I64  # of every query
    points: I64  # for each fold the point of the surface that was chosen (and refined, where weights are refined)
    weights: F64  # folds x sources: what the fold was measured with

    @property
    def mean(self) -> float:
        """The mean of the held-out values."""
        return float(self.values.mean())

    @property
    def folds(self) -> int:
        """How many folds there are."""
        return len(self.points)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "mean": self.mean,
            "folds": self.folds,
            "weights": self.weights.tolist(),
            "values": dict(zip(self.queries, self.values.tolist(), strict=True)),
        }


def folds_of(queries: Sequence[str], folds: int = FOLDS, seed: int = 0) -> I64:
    """The fold of every query, from 0; sizes differ by one at most, and the order of the queries does not matter.

    >>> folds_of(["a", "b", "c", "d"], 2).tolist() == folds_of(["d", "c", "b", "a"], 2)[::-1].tolist()
    True
    """
    if folds < 2:
        raise ConfigError(f"cross-validation needs at least 2 folds, got {folds}; 5 is usual")
    if len(queries) < folds:
        raise ConfigError(
            f"{folds} folds need at least {folds} queries with a relevant document, got {len(queries)}; take fewer folds"
        )
    order = np.array(sorted(range(len(queries)), key=queries.__getitem__))
    found = np.empty(len(queries), dtype=np.int64)
    found[np.random.default_rng(seed).permutation(order)] = np.arange(len(queries)) % folds
    return found


def held_out(
    queries: tuple[str, ...], choose: Callable[[I64], tuple[int, F64, F64]], folds: int = FOLDS, seed: int = 0
) -> CrossValidated:
    """Measure every fold with what `choose` takes for the queries outside of it: a point, its weights, and the values of all.

    >>> choose = lambda rest: (0, np.ones(1), np.array([0.1, 0.2]))
    >>> held_out(("a", "b"), choose, 2).values.tolist()
    [0.1, 0.2]
    """
    fold = folds_of(queries, folds, seed)
    values, points, weights = np.empty(len(queries)), [], []
    for one in range(folds):
        point, chosen, found = choose(np.flatnonzero(fold != one))
        values[fold == one] = found[fold == one]
        points.append(point)
        weights.append(chosen)
    return CrossValidated(queries, values, fold, np.array(points, dtype=np.int64), np.stack(weights))


def cross_validated(surface: WeightSurface, folds: int = FOLDS, seed: int = 0) -> CrossValidated:
    """Each fold measured with the point of the surface that is best for the other folds.

    >>> weights, values = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.5, 1.0], [0.5, 0.0]])
    >>> found = cross_validated(WeightSurface(("a", "b"), "RR", weights, values, ("q1", "q2")), 2)
    >>> found.values.tolist(), found.points.tolist()
    ([0.5, 1.0], [0, 0])
    """

    def choose(rest: I64) -> tuple[int, F64, F64]:
        point = best_point(surface.weights, surface.values[:, rest].mean(axis=1))
        return point, surface.weights[point], surface.values[point]

    return held_out(surface.queries, choose, folds, seed)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean of paired differences, its bootstrap interval (95 %) and the p of the paired t-test (two-sided)."""

    mean: float
    interval: ConfidenceInterval
    p: float
    queries: int

    @property
    def distinguishable(self) -> bool:
        """Whether the test sees a difference at 0.05."""
        return self.p < LEVEL

    def outcome(self, other: str) -> str:
        """Whether it is better than something else, worse or not distinguishable.

        >>> PairedDifference(0.02, ConfidenceInterval(-0.01, 0.05), 0.21, 150).outcome("equal weights")
        'not distinguishable from equal weights'
        """
        if not self.distinguishable:
            return f"not distinguishable from {other}"
        return f"better than {other}" if self.mean > 0 else f"worse than {other}"

    def words(self) -> str:
        """The difference with its interval and p.

        >>> PairedDifference(0.02, ConfidenceInterval(-0.01, 0.05), 0.21, 150).words()
        '+0.0200, 95 % interval -0.0100 to +0.0500, p = 0.210'
        """
        low, high = self.interval.low, self.interval.high
        return f"{self.mean:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}, {p_said(self.p)}"

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "mean": self.mean,
            "interval": [self.interval.low, self.interval.high],
            "p": self.p,
            "queries": self.queries,
            "distinguishable": self.distinguishable,
        }


def p_said(p: float) -> str:
    """The p-value of a test in words; values below 0.001 are not written out.

    >>> p_said(0.0312), p_said(1e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def paired_difference(first: F64, second: F64, *, seed: int = 0) -> PairedDifference:
    """What two arrays of values of the same queries say about first - second.

    >>> paired_difference(np.array([0.5, 0.7, 0.9]), np.array([0.5, 0.7, 0.9])).p
    1.0
    """
    mean = float(differences(first, second).mean())
    p = paired_test(PairedTest.T, first, second).p
    return PairedDifference(mean, difference_interval(first, second, seed=seed), p, len(first))
