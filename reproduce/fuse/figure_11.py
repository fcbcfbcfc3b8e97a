"""FUSE, figure 11: R@10 over the weight of ColBERT in a fusion with SPLADE, zero-shot and in-domain."""

from __future__ import annotations

from reproduce.experiment import Experiment
from reproduce.fuse.weight_curves import weight_curves
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """The curves of min-max and z-score in both settings."""
    return weight_curves(experiment, ("SPLADE", "ColBERT"), "FUSE-FIG11")
