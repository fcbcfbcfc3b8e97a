"""CJEU, table 6: SBERT fine-tuned on growing shares of the data."""

from __future__ import annotations

from reproduce.cjeu.growing_data import growing_rows
from reproduce.experiment import Experiment
from reproduce.result import Measured

MEASURES = {"R@1": "R@1", "R@5": "R@5", "R@10": "R@10", "R@20": "R@20"}


def measure(experiment: Experiment) -> Measured:
    """One row a share."""
    return Measured(growing_rows(experiment, MEASURES))
