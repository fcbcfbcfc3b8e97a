"""CJEU, table 2: period, citations and paragraphs of the splits."""

from __future__ import annotations

from lexfuse.data.collection_statistics import split_statistics
from reproduce.experiment import Experiment
from reproduce.result import Measured

COLUMNS = {
    "first_year": "first year",
    "last_year": "last year",
    "relevant": "citations",
    "queries_and_relevant_documents": "paragraphs",
}


def measure(experiment: Experiment) -> Measured:
    """One row a split."""
    rows: dict[str, dict[str, float]] = {}
    for split in ("train", "dev", "test"):
        _, qrels = experiment.dataset.judged(split)
        found = split_statistics(experiment.dataset.collection, qrels)
        rows[split] = {column: found[name] for name, column in COLUMNS.items() if name in found}
    return Measured(rows)
