"""What pairs of sources say about the same documents: figures 3 and 6 of FUSE."""

from __future__ import annotations

import numpy as np

from lexfuse.advice.evidence.complementarity import Complementarity, complementarity
from reproduce.experiment import Experiment
from reproduce.fuse.sources import LEXICAL, asked_sources
from reproduce.plots import Labels, scatter
from reproduce.result import Measured, Plot

SECOND = "ColBERT"  # the source that the paper draws with BM25


def agreement(experiment: Experiment, setting: str, number: str) -> Measured:
    """For every pair the share of relevant documents in each corner and the correlation; one pair is drawn."""
    asked = asked_sources(experiment, setting, "dev")
    found = complementarity(asked.union, asked.qrels)
    rows = {f"{one.first} and {one.second}": _row(one) for one in found}
    drawn = next((one for one in found if (one.first, one.second) == (LEXICAL, SECOND)), found[0])
    return Measured(rows, (_plot(drawn, number),))


def _row(one: Complementarity) -> dict[str, float]:
    shares = {f"relevant, {region.words}": region.relevant / region.pairs for region in one.regions if region.pairs}
    return shares | {"correlation": one.correlation}


def _plot(one: Complementarity, number: str) -> Plot:
    points = np.array([(first, second) for first, second, _ in one.points], dtype=np.float64).reshape(-1, 2)
    relevant = np.array([good for _, _, good in one.points], dtype=bool)
    labels = Labels(f"{one.first}, min-max", f"{one.second}, min-max")
    description = f"Scores of {one.first} and {one.second} for relevant and other documents"
    return scatter(number, description, labels, points[relevant].T, points[~relevant].T)
