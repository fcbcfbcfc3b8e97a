"""BSARD, table 1: the topics of the questions."""

from __future__ import annotations

from collections import Counter

from lexfuse.errors import DataError
from reproduce.experiment import Experiment
from reproduce.result import Measured

FIELDS = ("category", "kind")


def measure(experiment: Experiment) -> Measured:
    """The share of each topic among all questions, largest first."""
    queries = experiment.dataset.collection.queries
    extra = [] if queries is None else queries.extra
    field = next((name for name in FIELDS if any(name in one for one in extra)), None)
    if field is None:
        raise DataError(f"no question has a field {' or '.join(FIELDS)}", path=experiment.dataset.folder)
    counts = Counter(str(one.get(field, "none")) for one in extra)
    return Measured({topic: {"% of questions": 100 * count / len(extra)} for topic, count in counts.most_common()})
