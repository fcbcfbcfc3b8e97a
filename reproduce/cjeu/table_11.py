"""CJEU, table 11: examples where BM25 and SBERT-ft both find what the query cites."""

from __future__ import annotations

from reproduce.cjeu.examples import PERFECT, Scenario, example_table
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """One row an example."""
    return example_table(experiment, Scenario("SBERT-ft", "R@20", PERFECT))
