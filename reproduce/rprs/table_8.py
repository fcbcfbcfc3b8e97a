"""RPRS, table 8: whether a system favours long documents."""

from __future__ import annotations

from lexfuse.advice.evidence.length_bias import length_bias
from reproduce.experiment import Experiment
from reproduce.result import Measured
from reproduce.rprs.judgments import judgments

CUTOFF = 50


def measure(experiment: Experiment) -> Measured:
    """One correlation a system, with the lengths of what it ranks first."""
    found = judgments(experiment)
    rows: dict[str, dict[str, float]] = {}
    words: dict[str, float] = {}
    for name, system in found.systems().items():
        bias = length_bias(name, system.run, found.lengths, found.test, cutoff=CUTOFF)
        rows[name] = {"correlation": bias.pearson, "mean words": bias.mean_length_top}
        words = {"relevant documents": bias.mean_length_relevant, "all documents": bias.mean_length_all}
    notes = ("Mean words: of the first 10 documents of every query.",)
    return Measured(rows | {name: {"mean words": value} for name, value in words.items()}, notes=notes)
