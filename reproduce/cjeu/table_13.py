"""CJEU, table 13: SBERT fine-tuned on growing shares of the data."""

from __future__ import annotations

from reproduce.cjeu.growing_data import growing_rows
from reproduce.experiment import Experiment
from reproduce.result import Measured

MEASURES = {"nDCG@10": "nDCG@10", "MAP": "AP", "MRR": "RR"}


def measure(experiment: Experiment) -> Measured:
    """One row a share."""
    return Measured(growing_rows(experiment, MEASURES))
