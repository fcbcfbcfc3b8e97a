"""FUSE, figure 6: what two sources say about the same pairs, in-domain."""

from __future__ import annotations

from reproduce.experiment import Experiment
from reproduce.fuse.agreement import agreement
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """The share of relevant pairs in the four corners, and the correlation."""
    return agreement(experiment, "in-domain", "FUSE-FIG6")
