"""CJEU, figure 3: edit distance and common subsequence of query and cited paragraph, by what BM25 and SBERT reach."""

from __future__ import annotations

from reproduce.cjeu.verbatim import distance_figure
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """Both groups of queries."""
    return distance_figure(experiment, "SBERT", "R@5", "CJEU-FIG3")
