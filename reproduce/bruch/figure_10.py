"""BRUCH, figure 10: smooth reciprocal ranks against reciprocal ranks with eta 5, over beta."""

from __future__ import annotations

from reproduce.bruch.smoothness import smooth_curve
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """The difference in nDCG over beta."""
    return smooth_curve(experiment, 5.0, "BRUCH-FIG10")
