"""CJEU, table 1: how many decisions, paragraphs and citations there are."""

from __future__ import annotations

from lexfuse.data.collection_statistics import ParagraphCitations
from reproduce.experiment import Experiment
from reproduce.result import Measured

SPREADS = ("paragraphs_of_a_decision", "words_of_a_paragraph", "inbound_citations", "outbound_citations")


def measure(experiment: Experiment) -> Measured:
    """Counts, means and standard deviations."""
    collection = experiment.dataset.collection
    found = ParagraphCitations.of(collection).statistics(collection)
    rows: dict[str, dict[str, float]] = {
        "unique decisions": {"number": found["decisions"]},
        "unique paragraphs": {"number": found["paragraphs"]},
        "paragraph citations": {"number": found["citations"]},
    }
    for name in SPREADS:
        spread = found[name]
        rows[name.replace("_", " ")] = {"mean": spread["mean"], "standard deviation": spread["standard_deviation"]}
    total = len(collection.corpus)
    return Measured(rows, notes=(f"The corpus has {total:,} paragraphs, with those that neither cite nor are cited.",))
