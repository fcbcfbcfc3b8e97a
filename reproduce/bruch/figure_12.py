"""BRUCH, figure 12: what tuning reaches on the test split with growing samples of the judged tuning queries.

Four fusions: TM2C2 (alpha in steps of 0.01), RRF with one constant, RRF with two, and RRF-CC (eq. 10: two constants and alpha in
steps of 0.1). A trial draws one order of the queries and takes ever more of it; five trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from scipy.stats import t as student

from lexfuse.data.arrays import F64
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.normalisation import TheoreticalMinMax
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.optimisation.weight_evaluator import WeightEvaluator
from reproduce.bruch.candidates import Candidates, candidates
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured

SHARES = np.arange(0.05, 1.001, 0.05).round(2)
SHOWN = [(0, 0.05), (3, 0.2), (19, 1.0)]  # some of them, and their places
TRIALS = 5
ETAS = (1, 2, 4, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100)
WEIGHTS = np.linspace(0.1, 0.9, 9).round(1)


def alphas(found: Candidates) -> F64:
    """TM2C2: one parameter."""
    return found.sweep(TheoreticalMinMax())


def one_eta(found: Candidates) -> F64:
    """RRF with the same constant for both sources."""
    return np.concatenate(list(_reciprocal(found, [(eta, eta) for eta in ETAS], np.array([0.5]))))


def two_etas(found: Candidates) -> F64:
    """RRF with one constant for each source."""
    return np.concatenate(list(_reciprocal(found, list(product(ETAS, ETAS)), np.array([0.5]))))


def weighted_etas(found: Candidates) -> F64:
    """RRF-CC: a constant for each source, and a weight."""
    return np.concatenate(list(_reciprocal(found, list(product(ETAS, ETAS)), WEIGHTS)))


FAMILIES: dict[str, Callable[[Candidates], F64]] = {
    "TM2C2": alphas,
    "RRF, one eta": one_eta,
    "RRF, two etas": two_etas,
    "RRF-CC": weighted_etas,
}


def measure(experiment: Experiment) -> Measured:
    """The nDCG on the test split for every share of the tuning queries."""
    train, test = (candidates(experiment, split) for split in (experiment.dataset.tuning, experiment.dataset.test))
    rows: dict[str, dict[str, float]] = {}
    lines = {}
    for name, points in FAMILIES.items():
        means = sample_means(points(train), points(test).mean(axis=1))
        half = student.ppf(0.975, TRIALS - 1) * means.std(axis=1, ddof=1) / np.sqrt(TRIALS)
        centre = means.mean(axis=1)
        lines[name] = Curve((100 * SHARES).tolist(), centre.tolist(), ((centre - half).tolist(), (centre + half).tolist()))
        rows |= {f"{name}, tuned on {share:.0%}": {test.ndcg: float(centre[at])} for at, share in SHOWN}
    levels = {
        "TM2C2, alpha 0.8": float(test.values(test.fused(TM2C2(0.8))).mean()),
        "RRF(60)": float(test.values(test.fused(ReciprocalRank(60.0))).mean()),
    }
    rows |= {name: {test.ndcg: level} for name, level in levels.items()}
    labels = Labels(
        "judged queries, %", f"{test.ndcg} on test", f"{experiment.dataset.name}: {len(train.qrels.queries)} to tune on"
    )
    name = f"BRUCH-FIG12-{experiment.dataset.name}"
    return Measured(rows, (curves(name, "nDCG over the share of judged queries", labels, lines, levels=levels),))


def sample_means(train: F64, test: F64) -> F64:
    """For every share (rows) and trial: the test mean of the point that is best on the sample; of equals the first."""
    chance, count = np.random.default_rng(0), train.shape[1]
    orders = [chance.permutation(count) for _ in range(TRIALS)]
    sizes = [max(1, round(float(share) * count)) for share in SHARES]
    return np.array([[test[train[:, order[:size]].mean(axis=1).argmax()] for order in orders] for size in sizes])


def _reciprocal(found: Candidates, etas: list[tuple[int, int]], weights: F64) -> Iterator[F64]:
    """The nDCG of every query for every weight of SEM, pair of constants after pair."""
    ranks = found.union.ranks.astype(np.float64)
    points = np.stack([1 - weights, weights], axis=1)
    for lexical, semantic in etas:
        values = 1.0 / (np.array([[lexical], [semantic]]) + ranks)
        yield WeightEvaluator.of(found.union, values, found.qrels, found.ndcg).at(points)
