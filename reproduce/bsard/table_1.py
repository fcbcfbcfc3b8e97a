"""BSARD, table 1: the topics of the questions."""

from __future__ import annotations

from lexfuse.data.collection_statistics import TOPIC_FIELDS, topics
from lexfuse.errors import DataError
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """The share of each topic among all questions, largest first."""
    queries = experiment.dataset.collection.queries
    counts = topics([] if queries is None else queries.extra)
    if not counts:
        raise DataError(f"no question has a field {' or '.join(TOPIC_FIELDS)}", path=experiment.dataset.folder)
    return Measured({topic: {"% of questions": 100 * count / counts.total()} for topic, count in counts.most_common()})
