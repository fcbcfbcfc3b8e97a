"""BRUCH, figure 11: a convex combination of unnormalised scores against semantic search alone, over alpha."""

from __future__ import annotations

from lexfuse.fusion.normalisation import Identity
from reproduce.bruch.candidates import ALPHAS, candidates
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """The difference in nDCG at some weights, and the largest."""
    found = candidates(experiment, experiment.dataset.test)
    alone = float(found.values(found.runs[1]).mean())
    above = found.sweep(Identity()).mean(axis=1) - alone
    column = f"{found.ndcg} over SEM"
    rows = {f"alpha {ALPHAS[at]:g}": {column: float(above[at])} for at in (20, 50, 80)}
    rows["best alpha"] = {column: float(above.max()), "alpha": float(ALPHAS[above.argmax()])}
    labels = Labels("alpha", f"{found.ndcg}, unnormalised, minus SEM", f"{experiment.dataset.name}, test")
    line = {"unnormalised - SEM": Curve(ALPHAS.tolist(), above.tolist())}
    name = f"BRUCH-FIG11-{experiment.dataset.name}"
    return Measured(rows, (curves(name, "Unnormalised scores over alpha", labels, line, levels={"SEM": 0.0}),))
