"""CJEU, figure 2: n-grams in common of query and cited paragraph, by what BM25 and SBERT reach."""

from __future__ import annotations

from reproduce.cjeu.verbatim import ngram_figure
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """Both groups of queries."""
    return ngram_figure(experiment, "SBERT", "R@5", "CJEU-FIG2")
