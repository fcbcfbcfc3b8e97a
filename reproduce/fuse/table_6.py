"""FUSE, table 6: every fusion of every subset of four sources, in-domain."""

from __future__ import annotations

from reproduce.experiment import Experiment
from reproduce.fuse.configurations import configuration_table
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """R@10 on dev of all 88 configurations."""
    return configuration_table(experiment, "in-domain")
