"""CJEU, figure 5: n-grams in common of query and cited paragraph, by what BM25 and SBERT-ft reach."""

from __future__ import annotations

from reproduce.cjeu.verbatim import ngram_figure
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """Both groups of queries."""
    return ngram_figure(experiment, "SBERT-ft", "R@20", "CJEU-FIG5")
