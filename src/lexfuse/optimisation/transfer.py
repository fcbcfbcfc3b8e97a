"""Weights tuned on one collection and tested on others, to see whether a choice carries over.

Each collection is a union set and judgements over the same sources. The diagonal of the table knows its own queries; the
held-out row says what weights of one's own are worth on queries that they were not chosen on, and equal weights need no queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Union
from lexfuse.optimisation.cross_validation import FOLDS
from lexfuse.optimisation.fusion_weights import STEP, tune_weights, weighted
from lexfuse.optimisation.weight_evaluator import WeightEvaluator


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """Means of a measure: tuned on the collection of the row, measured on that of the column.

    >>> weights, means = np.full((1, 2), 0.5), np.array([[0.7]])
    >>> Transfer(("a", "b"), "RR", ("here",), (9,), weights, means, np.array([0.6]), np.array([0.5])).rows()
    [('here', [0.7]), ('own weights, held out', [0.6]), ('equal weights', [0.5])]
    """

    sources: tuple[str, ...]
    measure: str
    names: tuple[str, ...]
    queries: tuple[int, ...]  # of each collection
    weights: F64  # collections x sources
    means: F64  # tuned on x measured on
    held_out: F64  # of each collection: own weights on queries that they were not chosen on
    equal: F64

    def rows(self) -> list[tuple[str, list[float]]]:
        """The table, row by row."""
        tuned = [(name, row.tolist()) for name, row in zip(self.names, self.means, strict=True)]
        return [*tuned, ("own weights, held out", self.held_out.tolist()), ("equal weights", self.equal.tolist())]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sources": list(self.sources),
            "measure": self.measure,
            "queries": dict(zip(self.names, self.queries, strict=True)),
            "weights": dict(zip(self.names, self.weights.tolist(), strict=True)),
            "means": {name: dict(zip(self.names, row, strict=True)) for name, row in self.rows()},
        }


def transfer(
    collections: Mapping[str, tuple[Union, Qrels]],
    fusion: Fusion,
    measure: Measure | str,
    *,
    step: float = STEP,
    folds: int = FOLDS,
    seed: int = 0,
) -> Transfer:
    """Tune on every collection, and measure on all of them.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.convex import Convex
    >>> from lexfuse.fusion.union import union_of
    >>> docs = {"x": 3.0, "y": 1.0, "z": 0.0}, {"y": 4.0, "x": 2.0, "z": 0.0}
    >>> union = union_of([Run.of(name, {"p": scores, "q": scores}) for name, scores in zip("ab", docs)])
    >>> judged = {doc: (union, Qrels.of([("p", doc, 1), ("q", doc, 1)])) for doc in "xy"}
    >>> transfer(judged, Convex(), "RR", folds=2).means.tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    if len(collections) < 2:
        raise ConfigError(f"transfer is between two collections or more, got {len(collections)}")
    sources = {union.names for union, _ in collections.values()}
    if len(sources) > 1:
        shown = " and ".join(sorted(", ".join(names) for names in sources))
        raise ConfigError(f"the collections must have the same sources in the same order, got {shown}")
    (names,) = sources
    judged = collections.values()
    tuned = [tune_weights(union, fusion, qrels, measure, step=step, folds=folds, seed=seed) for union, qrels in judged]
    weights = np.array([one.weights for one in tuned])
    even = weighted(fusion, (1 / len(names),) * len(names))
    evaluators = [WeightEvaluator.of_fusion(union, even, qrels, measure) for union, qrels in judged]
    return Transfer(
        names,
        tuned[0].measure,
        tuple(collections),
        tuple(len(one.queries) for one in tuned),
        weights,
        np.stack([one.at(weights).mean(axis=1) for one in evaluators], axis=1),
        np.array([one.held_out.mean for one in tuned]),
        np.array([one.equal.mean() for one in tuned]),
    )
