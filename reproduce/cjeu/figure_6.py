"""CJEU, figure 6: edit distance and common subsequence of query and cited paragraph, by what BM25 and SBERT-ft reach."""

from __future__ import annotations

from reproduce.cjeu.verbatim import distance_figure
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """Both groups of queries."""
    return distance_figure(experiment, "SBERT-ft", "R@20", "CJEU-FIG6")
