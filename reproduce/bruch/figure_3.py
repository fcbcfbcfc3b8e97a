"""BRUCH, figure 3: nDCG of a convex combination over alpha, with seven normalisations, on the tuning split."""

from __future__ import annotations

from lexfuse.fusion.normalisation import Identity, MinMax, Normaliser, TheoreticalMinMax, ZScore
from reproduce.bruch.candidates import ALPHAS, candidates
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured

NORMALISATIONS: dict[str, tuple[Normaliser, Normaliser]] = {  # of LEX and of SEM
    "MM": (MinMax(), MinMax()),
    "TMM": (TheoreticalMinMax(), TheoreticalMinMax()),
    "Z": (ZScore(), ZScore()),
    "MM-LEX": (MinMax(), Identity()),
    "TMM-LEX": (TheoreticalMinMax(), Identity()),
    "Z-LEX": (ZScore(), Identity()),
    "I": (Identity(), Identity()),
}


def measure(experiment: Experiment) -> Measured:
    """The best alpha and its nDCG of every normalisation."""
    found = candidates(experiment, experiment.dataset.tuning)
    means = {name: found.sweep(pair).mean(axis=1) for name, pair in NORMALISATIONS.items()}
    lines = {name: Curve(ALPHAS.tolist(), values.tolist()) for name, values in means.items()}
    name = f"BRUCH-FIG3-{experiment.dataset.name}"
    labels = Labels("alpha", found.ndcg, f"{experiment.dataset.name}, {experiment.dataset.tuning}")
    rows = {
        name: {"best alpha": float(ALPHAS[values.argmax()]), f"{found.ndcg} there": float(values.max())}
        for name, values in means.items()
    }
    highest = [float(values.max()) for name, values in means.items() if name != "I"]
    spread = f"With any normalisation the best alpha reaches the same {found.ndcg} to within {max(highest) - min(highest):.4f}."
    return Measured(rows, (curves(name, "nDCG over alpha with seven normalisations", labels, lines),), (spread,))
