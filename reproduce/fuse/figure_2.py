"""FUSE, figure 2: how the scores of the sources are distributed over the whole corpus, zero-shot."""

from __future__ import annotations

import numpy as np

from lexfuse.channels.distribution import SHARES
from reproduce.experiment import Experiment
from reproduce.fuse.sources import asked_sources
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured

QUANTILES = (0.25, 0.5, 0.75, 0.95)


def measure(experiment: Experiment) -> Measured:
    """Quantiles of the scores of every source, between its lowest and its highest."""
    union = asked_sources(experiment, "zero-shot", "dev").union
    rows, lines = {}, {}
    some = np.linspace(0, len(SHARES) - 1, 200).astype(int)
    for name, levels in zip(union.names, union.levels, strict=True):
        values = levels().scores
        scaled = (values - values[0]) / (values[-1] - values[0] or 1.0)
        rows[name] = {f"{quantile:.0%} of scores below": float(np.interp(quantile, SHARES, scaled)) for quantile in QUANTILES}
        lines[name] = Curve(scaled[some].tolist(), SHARES[some].tolist())
    labels = Labels("score, min-max over the corpus", "share of scores below", experiment.dataset.name)
    return Measured(rows, (curves("FUSE-FIG2", "Cumulative distributions of min-max scores", labels, lines),))
