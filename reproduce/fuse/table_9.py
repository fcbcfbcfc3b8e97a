"""FUSE, table 9: the weights that were tuned, zero-shot."""

from __future__ import annotations

from reproduce.experiment import Experiment
from reproduce.fuse.configurations import weight_table
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """The weight of every source in every subset, for three normalisations."""
    return weight_table(experiment, "zero-shot")
