"""CJEU, table 2: period, citations and paragraphs of the splits."""

from __future__ import annotations

import numpy as np

from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """One row a split."""
    rows: dict[str, dict[str, float]] = {}
    for split in ("train", "dev", "test"):
        queries, qrels = experiment.dataset.judged(split)
        edges = [(query, doc) for query, judged in qrels.as_dict().items() for doc, grade in judged.items() if grade > 0]
        years = queries.date[~np.isnat(queries.date)].astype("datetime64[Y]").astype(int) + 1970
        known: dict[str, float] = {"first year": int(years.min()), "last year": int(years.max())} if len(years) else {}
        rows[split] = known | {"citations": len(edges), "paragraphs": len({id for edge in edges for id in edge})}
    return Measured(rows)
