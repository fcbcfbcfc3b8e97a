"""RPRS, figure 6: how long documents and queries are."""

from __future__ import annotations

import numpy as np

from reproduce.experiment import Experiment
from reproduce.plots import Labels, histograms
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """Mean, spread and quartiles of the words."""
    collection = experiment.dataset.collection
    texts = {"documents": collection.corpus.text, "queries": collection.queries.text if collection.queries else ()}
    words = {name: np.array([len(text.split()) for text in of], dtype=np.int64) for name, of in texts.items()}
    rows = {
        name: {
            "mean words": float(count.mean()),
            "standard deviation": float(count.std()),
            "first quartile": float(np.quantile(count, 0.25)),
            "third quartile": float(np.quantile(count, 0.75)),
        }
        for name, count in words.items()
    }
    titles = [Labels(f"words of {name}", name) for name in words]
    return Measured(rows, (histograms("RPRS-FIG6", "Words of documents and of queries", titles, list(words.values())),))
