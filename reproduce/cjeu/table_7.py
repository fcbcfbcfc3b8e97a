"""CJEU, table 7: citations from and to whole decisions."""

from __future__ import annotations

from lexfuse.data.collection_statistics import ParagraphCitations
from reproduce.experiment import Experiment
from reproduce.result import Measured

SPREADS = ("outbound_citations_of_a_decision", "inbound_citations_of_a_decision")


def measure(experiment: Experiment) -> Measured:
    """Counts, means and standard deviations over decisions with at least one citation."""
    found = ParagraphCitations.of(experiment.dataset.collection).statistics(experiment.dataset.collection)
    rows: dict[str, dict[str, float]] = {"unique decisions": {"number": found["decisions"]}}
    for name in SPREADS:
        spread = found[name]
        rows[name.replace("_", " ")] = {"mean": spread["mean"], "standard deviation": spread["standard_deviation"]}
    return Measured(rows)
