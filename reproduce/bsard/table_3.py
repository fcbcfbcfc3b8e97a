"""BSARD, table 3: the articles of every code, and those that are relevant to at least one question."""

from __future__ import annotations

from collections import Counter

from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """One row a code, the largest first, and the total."""
    collection = experiment.dataset.collection
    articles = Counter(collection.corpus.code)
    judged = {qrels.docs[doc] for qrels in collection.qrels.values() for doc in qrels.doc[qrels.grade > 0].tolist()}
    relevant = Counter(collection.corpus.document(id).code for id in judged)
    rows = {code or "no code": {"articles": count, "relevant": relevant[code]} for code, count in articles.most_common()}
    return Measured({"Total": {"articles": articles.total(), "relevant": relevant.total()}} | rows)
