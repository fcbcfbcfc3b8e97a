"""CJEU, table 10: examples where BM25 alone finds what the query cites, SBERT does not."""

from __future__ import annotations

from reproduce.cjeu.examples import BETTER, Scenario, example_table
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """One row an example."""
    return example_table(experiment, Scenario("SBERT", "R@5", BETTER))
