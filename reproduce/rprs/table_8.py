"""RPRS, table 8: whether a system favours long documents."""

from __future__ import annotations

from lexfuse.advice.evidence.length_bias import length_bias
from reproduce.experiment import Experiment
from reproduce.result import Measured
from reproduce.rprs.judgments import judged, runs

CUTOFF = 50


def measure(experiment: Experiment) -> Measured:
    """One correlation a system, with the lengths of what it ranks first."""
    asked = judged(experiment)
    rows = {}
    for name, run in runs(experiment).items():
        bias = length_bias(name, run, asked.lengths, asked.qrels, cutoff=CUTOFF)
        rows[name] = {"correlation": bias.pearson, "mean words of the first 10": bias.mean_length_top}
        known = {"relevant documents": bias.mean_length_relevant, "all documents": bias.mean_length_all}
    return Measured(rows | {name: {"mean words": value} for name, value in known.items()})
