"""RPRS, figure 5: the effect of n, k1 and b."""

from __future__ import annotations

from lexfuse.optimisation.rprs_surface import RprsPoint
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured
from reproduce.rprs.judgments import judgments

NS, B_S, AT_DEPTH = (1, 5, 10), (0.0, 0.5, 1.0), 100


def measure(experiment: Experiment) -> Measured:
    """AP over k1 for three values of n and of b, and at the middle of every range."""
    surface = judgments(experiment).surface("train")
    rows, lines = {}, {}
    for n in NS:
        for b in B_S:
            values = [surface.mean(RprsPoint(n, k1, b, AT_DEPTH)) for k1 in surface.grid.k1]
            lines[f"n = {n}, b = {b:g}"] = Curve(surface.grid.k1, values)
            rows[f"n = {n}, b = {b:g}"] = {"highest AP": max(values), "lowest AP": min(values)}
    best = surface.best
    rows[f"best: n = {best.n}, k1 = {best.k1:g}, b = {best.b:g}, depth {best.depth}"] = {"AP": surface.mean(best)}
    plot = curves("RPRS-FIG5", "AP over k1, for values of n and b", Labels("k1", "AP on train", experiment.dataset.name), lines)
    return Measured(rows, (plot,))
