"""Separate weights for classes of queries, only where held-out values support them.

For every class with at least 20 queries two choices are measured on the same held-out queries of the class: weights chosen on
the other queries of all classes, and weights chosen on the other queries of the class. Own weights are kept where they are
better by a paired t-test, corrected by Holm over the classes tested. Fewer queries to choose on make worse weights, so that a
class mostly has to be large or very different for this to happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure
from lexfuse.evaluation.significance import adjust_p_values
from lexfuse.evaluation.significance_options import Correction
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Union
from lexfuse.optimisation.cross_validation import FOLDS, LEVEL, PairedDifference, paired_difference
from lexfuse.optimisation.fusion_weights import STEP, chooser_of
from lexfuse.text.query_class import QueryClass, query_class

FEWEST = 20


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """What holds for one class: its own weights if they are supported, and why or why not."""

    name: QueryClass
    queries: int
    weights: tuple[float, ...] | None  # chosen on all queries of the class; None where the class was not tested
    general: float | None  # held-out mean of weights chosen on all classes
    own: float | None  # held-out mean of weights chosen on the class
    versus_general: PairedDifference | None  # own against general
    adjusted_p: float | None  # over the classes tested
    words: str

    @property
    def supported(self) -> bool:
        """Whether the class should have its own weights."""
        if self.versus_general is None or self.adjusted_p is None:
            return False
        return self.adjusted_p < LEVEL and self.versus_general.mean > 0

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "class": self.name.value,
            "queries": self.queries,
            "supported": self.supported,
            "weights": None if self.weights is None else list(self.weights),
            "general": self.general,
            "own": self.own,
            "versus_general": None if self.versus_general is None else self.versus_general.as_json(),
            "adjusted_p": self.adjusted_p,
            "words": self.words,
        }


def classes_of(queries: Queries) -> dict[str, QueryClass]:
    """The class of every query, by its name.

    >>> classes_of(Queries.of([Query("q", "durée du préavis")]))
    {'q': <QueryClass.KEYWORDS: 'keywords'>}
    """
    return {name: query_class(text) for name, text in zip(queries.ids, queries.text, strict=True)}


def tune_classes(
    union: Union,
    fusion: Fusion,
    qrels: Qrels,
    measure: Measure | str,
    classes: Mapping[str, QueryClass],
    *,
    step: float = STEP,
    folds: int = FOLDS,
    seed: int = 0,
) -> tuple[ClassWeights, ...]:
    """Every class that occurs, the largest first, with its own weights where cross-validation supports them.

    >>> from lexfuse.fusion.convex import Convex
    >>> union = union_of([Run.of("a", {"p": {"x": 3.0}, "q": {"x": 3.0}}), Run.of("b", {"p": {"y": 4.0}, "q": {"y": 4.0}})])
    >>> names = dict.fromkeys("pq", QueryClass.KEYWORDS)
    >>> tune_classes(union, Convex(), Qrels.of([("p", "x", 1), ("q", "x", 1)]), "RR", names, folds=2)[0].words
    'keywords: all 2 queries are of this class, so the general weights are its own.'
    """
    chooser = chooser_of(union, fusion, qrels, measure, step)
    unknown = [name for name in chooser.grid.queries if name not in classes]
    if unknown:
        raise ConfigError(f"query {unknown[0]!r} has no class ({len(unknown)} of {len(chooser.grid.queries)} have none)")
    labels = np.array([classes[name].value for name in chooser.grid.queries])
    columns = {name: np.flatnonzero(labels == name.value) for name in QueryClass if (labels == name.value).any()}
    columns = dict(sorted(columns.items(), key=lambda item: -len(item[1])))
    enough = [name for name, mine in columns.items() if FEWEST <= len(mine) < len(labels)]
    general = chooser.held_out(folds, seed).values if enough else np.empty(0)
    own = {name: chooser.held_out(folds, seed, columns[name]).values for name in enough}
    tests = {name: paired_difference(own[name][columns[name]], general[columns[name]], seed=seed) for name in enough}
    corrected = dict(zip(enough, adjust_p_values([tests[name].p for name in enough], Correction.HOLM).tolist(), strict=True))
    found = []
    for name, mine in columns.items():
        if name not in tests:
            found.append(ClassWeights(name, len(mine), None, None, None, None, None, _untested(name, len(mine), len(labels))))
            continue
        weights = tuple(round(weight, 9) for weight in chooser.choose(mine).weights.tolist())
        means = float(general[mine].mean()), float(own[name][mine].mean())
        words = _words(name, len(mine), means, tests[name], corrected[name], str(chooser.evaluator.measure))
        found.append(ClassWeights(name, len(mine), weights, *means, tests[name], corrected[name], words))
    return tuple(found)


def _untested(name: QueryClass, count: int, total: int) -> str:
    if count == total:
        return f"{name.value}: all {count} queries are of this class, so the general weights are its own."
    return f"{name.value}: only {count} queries; separate weights need at least {FEWEST}."


def _words(
    name: QueryClass, count: int, means: tuple[float, float], found: PairedDifference, corrected: float, measure: str
) -> str:
    better = corrected < LEVEL and found.mean > 0
    verdict = "separate weights are better than the general ones" if better else "the general weights are as good"
    return (
        f"{name.value}: {verdict}. Held out, on {count} queries, {measure} is {means[1]:.4f} with its own and {means[0]:.4f} "
        f"with the general weights ({found.words()}; {corrected:.3f} corrected over classes)."
    )
