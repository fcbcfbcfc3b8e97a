"""Fusions tuned on one collection and measured on others: whether tuned constants and weights carry over (BRUCH, table 2).

Every collection has two splits. A fusion is chosen on the tuning split of each collection, and each of these fusions is measured
on the test split of every collection. Nothing is chosen on a test split.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.union import Union
from lexfuse.optimisation.fusion_constants import eta_trials, tune_constants
from lexfuse.optimisation.fusion_weights import tune_weights

DEPTH = 1000  # documents of a fused ranking

FusionChoice = Callable[[Union, Qrels, str], Fusion]  # the fusion that a measure on judged queries prefers


@dataclass(frozen=True, slots=True, eq=False)
class SplitCollection:
    """The union sets and judgements of a collection: one to choose on, one to measure on, and the measure of both."""

    tuning: tuple[Union, Qrels]
    test: tuple[Union, Qrels]
    measure: str


@dataclass(frozen=True, slots=True, eq=False)
class FusionTransfer:
    """The fusion that each collection chooses, and what each of them reaches on each test split."""

    names: tuple[str, ...]
    fusions: tuple[Fusion, ...]  # by the collection that chose it
    values: Mapping[str, F64]  # by collection: chosen on x test queries

    @property
    def means(self) -> F64:
        """Means of the measure: chosen on the collection of the row, measured on that of the column."""
        return np.stack([self.values[name].mean(axis=1) for name in self.names], axis=1)

    @property
    def losses(self) -> F64:
        """What each collection loses by a fusion that another one chose: its own choice minus that one."""
        means = self.means
        found: F64 = np.diag(means) - means
        return found

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        rows = self.means.tolist()
        return {
            "fusions": {name: repr(fusion) for name, fusion in zip(self.names, self.fusions, strict=True)},
            "means": {name: dict(zip(self.names, row, strict=True)) for name, row in zip(self.names, rows, strict=True)},
        }


def transfer_fusion(collections: Mapping[str, SplitCollection], choose: FusionChoice) -> FusionTransfer:
    """Choose a fusion on every collection, and measure all of them on the test split of each.

    >>> docs = {"x": 3.0, "y": 2.0, "z": 1.0}, {"y": 3.0, "z": 2.0, "x": 1.0}
    >>> union = union_of([Run.of(name, {"p": scores, "q": scores}) for name, scores in zip("ab", docs)])
    >>> def judged(doc):
    ...     return SplitCollection(*[(union, Qrels.of([("p", doc, 1), ("q", doc, 1)]))] * 2, "RR")
    >>> found = transfer_fusion({doc: judged(doc) for doc in "xy"}, tuned_etas([1, 60], folds=2))
    >>> found.means.tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    if not collections:
        raise ConfigError("no collection to choose a fusion on; give at least one")
    sources = {union.names for one in collections.values() for union, _ in (one.tuning, one.test)}
    if len(sources) > 1:
        shown = " and ".join(sorted(", ".join(names) for names in sources))
        raise ConfigError(f"all collections must have the same sources in the same order, got {shown}")
    fusions = tuple(choose(*one.tuning, one.measure) for one in collections.values())
    values = {name: np.stack([_values(one, fusion) for fusion in fusions]) for name, one in collections.items()}
    return FusionTransfer(tuple(collections), fusions, values)


def tuned_etas(etas: Sequence[float], fusion: ReciprocalRank | None = None, *, folds: int = 2) -> FusionChoice:
    """Choose one eta for each source at equal weights, from all combinations of these values; of equals the first."""

    def choose(union: Union, qrels: Qrels, measure: str) -> Fusion:
        trials = eta_trials(union, fusion or ReciprocalRank(), etas, each=True)
        return tune_constants(trials, qrels, measure, with_weights=False, folds=folds).fusion

    return choose


def tuned_weights(fusion: Fusion, *, folds: int = 2) -> FusionChoice:
    """Choose the weights of a fusion, for two sources the exact optimum."""

    def choose(union: Union, qrels: Qrels, measure: str) -> Fusion:
        return tune_weights(union, fusion, qrels, measure, folds=folds).fusion

    return choose


def _values(collection: SplitCollection, fusion: Fusion) -> F64:
    union, qrels = collection.test
    return evaluate(qrels, fusion.fused(union, DEPTH), collection.measure).values(collection.measure)
