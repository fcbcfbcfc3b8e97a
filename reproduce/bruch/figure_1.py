"""BRUCH, figure 1: theoretical min-max scores of query-document pairs of the tuning split, relevant and not."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.fusion.normalisation import TheoreticalMinMax
from reproduce.bruch.candidates import Candidates, candidates
from reproduce.experiment import Experiment
from reproduce.plots import Labels, scatter
from reproduce.result import Measured

SAMPLE = 2000  # of each kind are drawn; the paper has up to 20,000


def measure(experiment: Experiment) -> Measured:
    """How well each source, and a line through both, tells relevant documents from as many others."""
    found = candidates(experiment, experiment.dataset.tuning)
    values = np.stack([TheoreticalMinMax().of(found.union, source) for source in (1, 0)])
    relevant, others = drawn(found, values)
    name = f"BRUCH-FIG1-{experiment.dataset.name}"
    labels = Labels("semantic score (TMM)", "lexical score (TMM)", experiment.dataset.name)
    plot = scatter(name, "Normalised scores of relevant and other documents", labels, relevant, others)
    rows = {
        "semantic score alone": {"AUC": auc(relevant[0], others[0])},
        "lexical score alone": {"AUC": auc(relevant[1], others[1])},
        "alpha = 0.8": {"AUC": auc(*(0.8 * one[0] + 0.2 * one[1] for one in (relevant, others)))},
    }
    return Measured(rows, (plot,), ("AUC: the chance that a relevant document has a higher score than another one.",))


def drawn(found: Candidates, values: F64) -> tuple[F64, F64]:
    """A sample of the relevant candidates and one of the others, as columns."""
    chance, relevant = np.random.default_rng(0), found.relevant()
    kinds = (np.flatnonzero(kind) for kind in (relevant, ~relevant))
    first, second = (np.sort(chance.permutation(kind)[:SAMPLE]) for kind in kinds)
    return values[:, first], values[:, second]


def auc(relevant: F64, others: F64) -> float:
    """The share of pairs in which the relevant one is higher; a tie counts half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, relevant, "left") + np.searchsorted(ordered, relevant, "right")
    return float(below.mean() / (2 * len(ordered)))
