"""R@10 over the weights of two sources, in both settings: figures 4 and 7 to 11 of FUSE."""

from __future__ import annotations

import numpy as np

from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import MinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.optimisation.weight_evaluator import WeightEvaluator
from reproduce.experiment import Experiment
from reproduce.fuse.sources import DEPTH, asked_sources
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured

MEASURE = "R@10"
WEIGHTS = np.linspace(0, 1, 21).round(2)


def weight_curves(experiment: Experiment, pair: tuple[str, str], number: str) -> Measured:
    """The best weight of the second source by min-max and z-score, equal weights, RRF, and each source alone."""
    points = np.stack([1 - WEIGHTS, WEIGHTS], axis=1)
    rows: dict[str, dict[str, float]] = {}
    lines, levels = {}, {}
    for setting in ("zero-shot", "in-domain"):
        asked = asked_sources(experiment, setting, "dev")
        union = asked.union.only([asked.union.names.index(name) for name in pair])
        for normaliser in (MinMax(), ZScore()):
            fusion = Convex((0.5, 0.5), normaliser)
            means = WeightEvaluator.of_fusion(union, fusion, asked.qrels, MEASURE).at(points).mean(axis=1)
            name = f"{setting}, {normaliser.name}"
            lines[name] = Curve(WEIGHTS.tolist(), means.tolist())
            rows[name] = {
                "best weight": float(WEIGHTS[means.argmax()]), "best": float(means.max()),
                "equal weights": float(means[len(means) // 2]), pair[0]: float(means[0]), pair[1]: float(means[-1]),
            }  # fmt: skip
        levels[f"{setting}, RRF"] = evaluate(asked.qrels, ReciprocalRank().fused(union, DEPTH), MEASURE).mean(MEASURE)
    rows |= {name: {"RRF": level} for name, level in levels.items()}
    labels = Labels(f"weight of {pair[1]}; {pair[0]} has the rest", f"{MEASURE} on dev", experiment.dataset.name)
    description = f"{MEASURE} over the weights of {pair[0]} and {pair[1]}"
    return Measured(rows, (curves(number, description, labels, lines, levels=levels),))
