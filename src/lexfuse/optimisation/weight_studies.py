"""How far tuned weights carry: to other collections, and from few judged queries (BRUCH, figure 12).

Transfer: each collection is a union set and judgements over the same sources. The diagonal of the table knows its own queries;
the held-out row says what weights of one's own are worth on queries that they were not chosen on, and equal weights need no
queries. Sample efficiency: weights are chosen on samples of the train queries, 5 % of them, 10 %, up to all, several samples of
each size, and measured on the test queries, which nothing is chosen by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluation.bootstrap import ConfidenceInterval
from lexfuse.evaluation.measure import Measure
from lexfuse.evaluation.student_t import t_quantile
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Union
from lexfuse.optimisation.cross_validation import FOLDS
from lexfuse.optimisation.fusion_weights import STEP, chooser_of, evaluator_of, tune_weights


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """Means of a measure: tuned on the collection of the row, measured on that of the column."""

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

    >>> from lexfuse.fusion.convex import Convex
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
    evaluators = [evaluator_of(union, fusion, qrels, measure) for union, qrels in judged]
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


SHARE = 0.05
TRIALS = 5


@dataclass(frozen=True, slots=True, eq=False)
class SampleEfficiency:
    """For every share of the train queries and every trial: the weights chosen, and the test mean they reach."""

    sources: tuple[str, ...]
    measure: str
    shares: tuple[float, ...]  # of the train queries, rising; the last is 1
    queries: tuple[int, ...]  # how many train queries each share is
    test_queries: int
    weights: F64  # shares x trials x sources
    values: F64  # shares x trials: means on the test queries
    equal: float  # the test mean of equal weights

    @property
    def means(self) -> tuple[float, ...]:
        """The mean over trials, for every share."""
        return tuple(self.values.mean(axis=1).tolist())

    @property
    def full(self) -> float:
        """The test mean of weights chosen on all train queries."""
        return float(self.values[-1].mean())

    @property
    def band(self) -> tuple[ConfidenceInterval, ...]:
        """The 95 % interval of the mean over trials (Student's t), for every share; a point where all trials agree."""
        trials = self.values.shape[1]
        if trials < 2:
            return tuple(ConfidenceInterval(mean, mean) for mean in self.means)
        same = np.ptp(self.values, axis=1) == 0  # which rounding in the mean would hide
        deviation = np.where(same, 0.0, self.values.std(axis=1, ddof=1) / np.sqrt(trials))
        half = (t_quantile(trials - 1, 0.975) * deviation).tolist()
        return tuple(ConfidenceInterval(mean - one, mean + one) for mean, one in zip(self.means, half, strict=True))

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sources": list(self.sources),
            "measure": self.measure,
            "shares": list(self.shares),
            "queries": list(self.queries),
            "test_queries": self.test_queries,
            "weights": self.weights.tolist(),
            "values": self.values.tolist(),
            "means": list(self.means),
            "band": [[one.low, one.high] for one in self.band],
            "full": self.full,
            "equal": self.equal,
        }


def sample_efficiency(
    train: tuple[Union, Qrels],
    test: tuple[Union, Qrels],
    fusion: Fusion,
    measure: Measure | str,
    *,
    share: float = SHARE,
    trials: int = TRIALS,
    step: float = STEP,
    seed: int = 0,
) -> SampleEfficiency:
    """Tune on growing samples of the train queries and measure on the test queries.

    A trial draws one order of the queries and takes ever more of it, so that its samples contain each other.

    >>> from lexfuse.fusion.convex import Convex
    >>> docs = {"x": 3.0, "y": 1.0, "z": 0.0}, {"y": 4.0, "x": 2.0, "z": 0.0}
    >>> runs = [Run.of(name, {f"q{n}": scores for n in range(4)}) for name, scores in zip("ab", docs)]
    >>> judged = union_of(runs), Qrels.of([(f"q{n}", "y", 1) for n in range(4)])
    >>> found = sample_efficiency(judged, judged, Convex(), "RR", share=0.5, trials=2)
    >>> found.queries, found.means, found.equal
    ((2, 4), (1.0, 1.0), 0.5)
    """
    if not 0 < share <= 1:
        raise ConfigError(f"the share must lie above 0 and not above 1, got {share}; BRUCH takes 0.05")
    if trials < 1:
        raise ConfigError(f"at least 1 trial is needed, got {trials}; BRUCH takes 5")
    if train[0].names != test[0].names:
        raise ConfigError(f"train has the sources {', '.join(train[0].names)}, test has {', '.join(test[0].names)}")
    chooser = chooser_of(train[0], fusion, train[1], measure, step)
    sources = len(train[0].names)
    evaluator = evaluator_of(test[0], fusion, test[1], measure)
    shares = [min(1.0, round(share * at, 9)) for at in range(1, int(np.ceil(1 / share - 1e-9)) + 1)]
    count = len(chooser.grid.queries)
    sizes = [max(1, round(one * count)) for one in shares]
    order = sorted(range(count), key=chooser.grid.queries.__getitem__)  # so that the order of a file does not matter
    chance = np.random.default_rng(seed)
    drawn = [chance.permutation(order) for _ in range(trials)]
    chosen = np.stack([[chooser.choose(np.sort(one[:size])).weights for one in drawn] for size in sizes])
    means = evaluator.at(chosen.reshape(-1, sources)).mean(axis=1).reshape(len(sizes), trials)
    equal = float(evaluator.at(np.full((1, sources), 1 / sources)).mean())
    return SampleEfficiency(
        train[0].names, str(evaluator.measure), tuple(shares), tuple(sizes), len(evaluator.queries), chosen, means, equal
    )
