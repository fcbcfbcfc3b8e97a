"""BRUCH, figure 6: reciprocal ranks (eta 60) of query-document pairs of the tuning split, relevant and not."""

from __future__ import annotations

import numpy as np

from reproduce.bruch.candidates import candidates
from reproduce.bruch.figure_1 import auc, drawn
from reproduce.experiment import Experiment
from reproduce.plots import Labels, scatter
from reproduce.result import Measured

ETA = 60


def measure(experiment: Experiment) -> Measured:
    """How well reciprocal ranks tell relevant documents from as many others, beside figure 1."""
    found = candidates(experiment, experiment.dataset.tuning)
    relevant, others = drawn(found, 1.0 / (ETA + np.flip(found.union.ranks, axis=0).astype(np.float64)))
    labels = Labels("1 / (60 + semantic rank)", "1 / (60 + lexical rank)", experiment.dataset.name)
    name = f"BRUCH-FIG6-{experiment.dataset.name}"
    plot = scatter(name, "Reciprocal ranks of relevant and other documents", labels, relevant, others)
    sums = (relevant.sum(axis=0), others.sum(axis=0))
    top = float((relevant[0] == 1 / (ETA + 1)).mean())
    rows = {"sum of both (RRF)": {"AUC": auc(*sums)}, "relevant documents that SEM ranks first": {"share": top}}
    return Measured(rows, (plot,))
