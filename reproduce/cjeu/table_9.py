"""CJEU, table 9: examples where BM25 and SBERT both find what the query cites."""

from __future__ import annotations

from reproduce.cjeu.examples import PERFECT, Scenario, example_table
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """One row an example."""
    return example_table(experiment, Scenario("SBERT", "R@5", PERFECT))
