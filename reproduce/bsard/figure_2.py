"""BSARD, figure 2: how long questions and articles are, and how many articles are relevant to a question."""

from __future__ import annotations

import numpy as np

from reproduce.experiment import Experiment
from reproduce.plots import Labels, histograms
from reproduce.result import Measured

LONG = 10_000


def measure(experiment: Experiment) -> Measured:
    """Quantiles of the lengths in words, and histograms."""
    collection = experiment.dataset.collection
    questions, articles = (
        np.array([len(text.split()) for text in texts], dtype=np.int64)
        for texts in (collection.queries.text if collection.queries else (), collection.corpus.text)
    )
    relevant = np.concatenate([np.diff(qrels.offsets) for qrels in collection.qrels.values()])
    rows = {
        "questions": {
            "fewest words": int(questions.min()),
            "median words": float(np.median(questions)),
            "most words": int(questions.max()),
        },
        "articles": {
            "median words": float(np.median(articles)),
            "words of the third quartile": float(np.quantile(articles, 0.75)),
            "above 10,000 words": int((articles > LONG).sum()),
            "most words": int(articles.max()),
        },
        "relevant articles of a question": {"median": float(np.median(relevant)), "most": int(relevant.max())},
    }
    titles = [Labels("words of a question", "questions"), Labels("words of an article", "articles"),
              Labels("relevant articles", "questions")]  # fmt: skip
    description = "Words of questions, words of articles, relevant articles of a question"
    return Measured(rows, (histograms("BSARD-FIG2", description, titles, [questions, articles, relevant]),))
