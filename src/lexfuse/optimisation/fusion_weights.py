"""Weights of sources chosen on judged queries, with what they are worth on queries they were not chosen on.

BRUCH tunes the alpha of two sources (section 4), FUSE the weights of up to four ("tuned" in its tables 3 and 6). The value on
the queries that weights were chosen on flatters them; the held-out value (`lexfuse.optimisation.cross_validation`) does not,
and it is what is compared with equal weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, log10
from typing import Any

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.normalisation import TheoreticalMinMax
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.union import Union
from lexfuse.optimisation.cross_validation import FOLDS, CrossValidated, PairedDifference, paired_difference
from lexfuse.optimisation.exact_weight import Plateau
from lexfuse.optimisation.weight_choice import WeightChooser
from lexfuse.optimisation.weight_evaluator import WeightEvaluator
from lexfuse.optimisation.weight_surface import WeightSurface

STEP = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class TunedWeights:
    """The best weights, what they reach, and whether that differs from equal weights."""

    fusion: Fusion  # with the weights
    weights: tuple[float, ...]
    value: float  # mean on the queries that the weights were chosen on
    surface: WeightSurface  # the grid
    step: float  # of the grid
    asked_step: float
    plateau: Plateau | None  # two sources: the weights of the second that are equally good
    held_out: CrossValidated
    equal: F64  # the value of every query with equal weights
    versus_equal: PairedDifference  # held-out values against equal weights
    oracle: float  # the mean if every query had its own best weights

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources, in the order of the weights."""
        return self.surface.sources

    @property
    def measure(self) -> str:
        """What was made as high as possible."""
        return self.surface.measure

    @property
    def queries(self) -> tuple[str, ...]:
        """The judged queries."""
        return self.surface.queries

    @property
    def distinguishable(self) -> bool:
        """Whether held-out values differ from equal weights at 0.05."""
        return self.versus_equal.distinguishable

    def words(self) -> str:
        """What was found, in plain words."""
        shares = ", ".join(f"{name} {weight:g}" for name, weight in zip(self.sources, self.weights, strict=True))
        parts = [
            f"The best weights are {shares}: {self.measure} {self.value:.4f} on the {len(self.queries)} queries they were chosen "
            f"on, {self.held_out.mean:.4f} on queries they were not chosen on ({self.held_out.folds} folds)."
        ]
        if self.plateau is not None:
            low, high = self.plateau.low, self.plateau.high
            digits = max(3, 1 - floor(log10(max(high - low, 1e-9))))
            parts.append(
                f"Every weight of {self.sources[1]} from {low:.{digits}f} to {high:.{digits}f} is as good: exact, not a grid."
            )
        elif self.step > self.asked_step:
            parts.append(
                f"With {len(self.sources)} sources the first grid has steps of {self.step:g}, not {self.asked_step:g}; "
                "it was refined around its best point."
            )
        parts.append(
            f"On queries they were not chosen on, tuned weights are {self.versus_equal.outcome('equal weights')} "
            f"({self.equal.mean():.4f}): {self.versus_equal.words()}."
        )
        return " ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Plain values, with the mean of every point of the grid; for two sources with its band."""
        surface: dict[str, Any] = {"weights": self.surface.weights.tolist(), "means": self.surface.means.tolist()}
        if len(self.sources) == 2:
            surface["band"] = [[one.low, one.high] for one in self.surface.band()]
        return {
            "fusion": self.fusion.name,
            "sources": list(self.sources),
            "weights": list(self.weights),
            "measure": self.measure,
            "queries": len(self.queries),
            "value": self.value,
            "held_out": self.held_out.as_json(),
            "equal": float(self.equal.mean()),
            "versus_equal": self.versus_equal.as_json(),
            "oracle": self.oracle,
            "plateau": None if self.plateau is None else [self.plateau.low, self.plateau.high],
            "step": self.step,
            "words": self.words(),
            "surface": surface,
        }


def tune_weights(
    union: Union, fusion: Fusion, qrels: Qrels, measure: Measure | str, *, step: float = STEP, folds: int = FOLDS, seed: int = 0
) -> TunedWeights:
    """The weights with the highest mean of a measure, for a fusion whose score is a weighted sum of its values.

    >>> docs = {"x": 3.0, "y": 1.0, "z": 0.0}, {"y": 4.0, "x": 2.0, "z": 0.0}
    >>> runs = [Run.of(name, {f"q{n}": scores for n in range(4)}) for name, scores in zip("ab", docs)]
    >>> tuned = tune_weights(union_of(runs), Convex(), Qrels.of([(f"q{n}", "y", 1) for n in range(4)]), "RR", folds=2)
    >>> tuned.weights, tuned.value, tuned.held_out.mean, float(tuned.equal.mean())
    ((0.2, 0.8), 1.0, 1.0, 0.5)
    """
    chooser = chooser_of(union, fusion, qrels, measure, step)
    outside, chosen = chooser.held_out(folds, seed), chooser.choose()
    equal = chooser.values(np.full(len(union.names), 1 / len(union.names)))
    weights = tuple(round(weight, 9) for weight in chosen.weights.tolist())
    return TunedWeights(
        fusion=weighted(fusion, weights),
        weights=weights,
        value=float(chooser.values(chosen.weights).mean()),
        surface=chooser.grid,
        step=chooser.step,
        asked_step=step,
        plateau=chosen.plateau,
        held_out=outside,
        equal=equal,
        versus_equal=paired_difference(outside.values, equal, seed=seed),
        oracle=float(np.maximum(chooser.curve.highest, chooser.grid.highest).mean()) if chooser.curve else chooser.grid.oracle,
    )


def chooser_of(union: Union, fusion: Fusion, qrels: Qrels, measure: Measure | str, step: float = STEP) -> WeightChooser:
    """What chooses weights of a fusion for any of the queries.

    >>> chooser_of(union_of([Run.of("a", {"q": {"x": 3.0}})]), Convex(), Qrels.of([("q", "x", 1)]), "RR")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: weights are tuned for two sources or more, got 1
    """
    if len(union.names) < 2:
        raise ConfigError(f"weights are tuned for two sources or more, got {len(union.names)}")
    return WeightChooser.of(evaluator_of(union, fusion, qrels, measure), step)


def evaluator_of(union: Union, fusion: Fusion, qrels: Qrels, measure: Measure | str) -> WeightEvaluator:
    """What evaluates any weights of a fusion that has weights."""
    return WeightEvaluator.of_fusion(union, weighted(fusion, (1 / len(union.names),) * len(union.names)), qrels, measure)


def weighted(fusion: Fusion, weights: tuple[float, ...]) -> Fusion:
    """The same fusion with these weights; TM2C2, which has an alpha only, becomes the convex combination that it is.

    >>> weighted(ReciprocalRank(5.0), (0.3, 0.7)).source_weights(2).tolist()
    [0.3, 0.7]
    >>> from lexfuse.fusion.borda import Borda
    >>> weighted(Borda(), (0.3, 0.7))
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the fusion borda has no weights; take convex, tm2c2, rrf or srrf
    """
    if isinstance(fusion, TM2C2):
        return Convex(weights, TheoreticalMinMax(), fusion.missing)
    if isinstance(fusion, Convex | ReciprocalRank | SmoothReciprocalRank):
        return replace(fusion, weights=weights)
    raise ConfigError(f"the fusion {fusion.name} has no weights; take convex, tm2c2, rrf or srrf")
