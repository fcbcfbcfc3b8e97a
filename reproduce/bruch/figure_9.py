"""BRUCH, figure 9: smooth reciprocal ranks against reciprocal ranks with eta 60, over beta."""

from __future__ import annotations

from reproduce.bruch.smoothness import smooth_curve
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """The difference in nDCG over beta."""
    return smooth_curve(experiment, 60.0, "BRUCH-FIG9")
