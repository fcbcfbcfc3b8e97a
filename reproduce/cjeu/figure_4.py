"""CJEU, figure 4: recall at 1, 5, 10 and 20 over growing shares of the training data, next to BM25."""

from __future__ import annotations

from reproduce.cjeu.growing_data import growing_rows
from reproduce.cjeu.table_6 import MEASURES
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured

ZERO_SHOT, LEXICAL = "Zero-shot", "BM25"


def measure(experiment: Experiment) -> Measured:
    """A curve for every cut-off; 0 % is the model before training."""
    rows = growing_rows(experiment, MEASURES)
    shares = {name: 0 if name == ZERO_SHOT else int(name.removesuffix(" %")) for name in rows if name != LEXICAL}
    lines = {measure: Curve(list(shares.values()), [rows[name][measure] for name in shares]) for measure in MEASURES}
    levels = {f"BM25, {measure}": value for measure, value in rows[LEXICAL].items()}
    labels = Labels("training data, %", "recall on test", experiment.dataset.name)
    plot = curves("CJEU-FIG4", "Recall over the share of training data", labels, lines, levels=levels, paired=True)
    return Measured(rows, (plot,))
