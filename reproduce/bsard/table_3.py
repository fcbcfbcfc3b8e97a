"""BSARD, table 3: the articles of every code, and those that are relevant to at least one question."""

from __future__ import annotations

from collections import Counter

from lexfuse.data.collection_statistics import relevant_by_code
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """One row a code, the largest first, and the total."""
    collection = experiment.dataset.collection
    articles = Counter(code or "no code" for code in collection.corpus.code)
    relevant = relevant_by_code(collection)
    rows = {code: {"articles": count, "relevant": relevant[code]} for code, count in articles.most_common()}
    return Measured({"Total": {"articles": articles.total(), "relevant": relevant.total()}} | rows)
