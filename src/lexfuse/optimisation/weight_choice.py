"""The best weights for some of the queries: a grid over the simplex, then finer; for two sources exactly.

Two sources: the widest of the intervals of alpha with the highest mean, found exactly (`lexfuse.optimisation.exact_weight`),
and in it the number with the fewest decimals that lies in its middle half. More sources: from the best point of the grid,
weight is moved between every pair of sources, by 0.01 and then ever less until nothing improves; where the grid is coarser than
0.05, the first moves are half of its step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb

import numpy as np

from lexfuse.data.arrays import F64, I64
from lexfuse.optimisation.cross_validation import CrossValidated, held_out
from lexfuse.optimisation.exact_weight import ExactCurve, Plateau, exact_curve
from lexfuse.optimisation.weight_evaluator import WeightEvaluator
from lexfuse.optimisation.weight_surface import SAME, WeightSurface, best_point, simplex

POINTS = 2_000  # that a first grid may have
STEPS = (0.05, 0.1, 0.125, 0.2, 0.25, 0.5, 1.0)
FINE = 0.01  # from here on, moves that improve nothing end the search
FINEST = 0.001


@dataclass(frozen=True, slots=True, eq=False)
class WeightChoice:
    """Weights that are best for some queries; `point` is where on the grid the search began."""

    weights: F64
    point: int
    plateau: Plateau | None  # of alpha, for two sources; None where a single point of the grid is better than every interval


@dataclass(frozen=True, slots=True, eq=False)
class WeightChooser:
    """Chooses weights for any of the queries; what was evaluated once is remembered.

    >>> from lexfuse.fusion.convex import Convex
    >>> union = union_of([Run.of("a", {"q": {"x": 3.0, "y": 1.0, "z": 0.0}}), Run.of("b", {"q": {"y": 4.0, "x": 2.0, "z": 0.0}})])
    >>> chooser = WeightChooser.of(WeightEvaluator.of_fusion(union, Convex(), Qrels.of([("q", "y", 1)]), "RR"))
    >>> chooser.choose().weights.round(2).tolist()  # from 4/7 on it is best
    [0.2, 0.8]
    """

    evaluator: WeightEvaluator
    grid: WeightSurface
    step: float  # of the grid
    curve: ExactCurve | None
    known: dict[bytes, F64] = field(default_factory=dict)

    @classmethod
    def of(cls, evaluator: WeightEvaluator, step: float = 0.05) -> WeightChooser:
        """Evaluate the grid; it is coarser than asked for where it had more than 2,000 points (five sources or more)."""
        sources = len(evaluator.values)
        used = affordable(sources, step)
        points = simplex(sources, used)
        grid = WeightSurface(evaluator.union.names, str(evaluator.measure), points, evaluator.at(points), evaluator.queries)
        return cls(evaluator, grid, used, exact_curve(evaluator) if sources == 2 else None)

    def values(self, weights: F64) -> F64:
        """The value of every query for one point of weights."""
        values: F64 = self._values(weights[None, :])[0]
        return values

    def choose(self, queries: I64 | None = None) -> WeightChoice:
        """The best weights for some of the queries, given by their columns; for all of them if none are given."""
        rows = np.arange(len(self.grid.queries)) if queries is None else queries
        means = self.grid.values[:, rows].mean(axis=1)
        point = best_point(self.grid.weights, means)
        if self.curve is not None:
            plateau = self.curve.best(rows)
            alpha = round_alpha(plateau)
            weights = np.array([1 - alpha, alpha])
            if self.values(weights)[rows].mean() >= means[point] - SAME:
                return WeightChoice(weights, point, plateau)
            return WeightChoice(self.grid.weights[point], point, None)
        if len(self.grid.sources) == 1:
            return WeightChoice(self.grid.weights[point], point, None)
        return WeightChoice(self._refined(self.grid.weights[point], float(means[point]), rows), point, None)

    def held_out(self, folds: int, seed: int, among: I64 | None = None) -> CrossValidated:
        """Every query under weights chosen without its fold, on all other queries or on those `among` some columns."""

        def choose(rest: I64) -> tuple[int, F64, F64]:
            choice = self.choose(rest if among is None else np.intersect1d(rest, among))
            return choice.point, choice.weights, self.values(choice.weights)

        return held_out(self.grid.queries, choose, folds, seed)

    def _refined(self, weights: F64, value: float, rows: I64) -> F64:
        size = FINE if self.step <= 5 * FINE else self.step / 2
        while size >= FINEST:
            improved = False
            while True:
                moves = _moves(weights, size)
                means = self._values(moves)[:, rows].mean(axis=1)
                best = best_point(moves, means)
                if means[best] <= value + SAME:
                    break
                weights, value, improved = moves[best], float(means[best]), True
            if size <= FINE and not improved:
                break
            size /= 2
        return weights

    def _values(self, weights: F64) -> F64:
        keys = [row.tobytes() for row in weights]
        lacking = [at for at, key in enumerate(keys) if key not in self.known]
        if lacking:
            for at, values in zip(lacking, self.evaluator.at(weights[lacking]), strict=True):
                self.known[keys[at]] = values
        return np.stack([self.known[key] for key in keys])


def affordable(sources: int, step: float) -> float:
    """The step itself, or the next coarser one whose grid has at most 2,000 points.

    >>> affordable(4, 0.05), affordable(5, 0.05), affordable(6, 0.05)
    (0.05, 0.1, 0.125)
    """
    for one in (step, *(coarser for coarser in STEPS if coarser > step)):
        if one <= 0 or comb(round(1 / one) + sources - 1, sources - 1) <= POINTS:  # what is no step is refused by `simplex`
            return one
    return 1.0


def round_alpha(plateau: Plateau) -> float:
    """The number with the fewest decimals in the middle half of a plateau.

    >>> round_alpha(Plateau(0.573, 0.641, 0.5)), round_alpha(Plateau(0.0, 1.0, 0.5))
    (0.6, 0.5)
    """
    quarter = (plateau.high - plateau.low) / 4
    for decimals in range(1, 12):
        rounded = round(plateau.middle, decimals)
        if plateau.low + quarter <= rounded <= plateau.high - quarter:
            return rounded
    return plateau.middle


def _moves(weights: F64, size: float) -> F64:
    """Every way to move so much weight (or all there is) from one source to another."""
    found = []
    for giver in range(len(weights)):
        amount = min(size, float(weights[giver]))
        for taker in range(len(weights)):
            if taker != giver and amount > 0:
                moved = weights.copy()
                moved[giver] -= amount
                moved[taker] += amount
                found.append(moved.round(9))
    return np.stack(found)
