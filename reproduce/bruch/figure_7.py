"""BRUCH, figure 7: the difference in nDCG of RRF with one constant for each source and RRF(60, 60)."""

from __future__ import annotations

import numpy as np

from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from reproduce.bruch.candidates import candidates
from reproduce.experiment import Experiment
from reproduce.plots import Labels, grid_map
from reproduce.result import Measured

ETAS = (1, 2, 4, 6, 8, 10, 15, 20, 30, 40, 50, 60, 80, 100)


def measure(experiment: Experiment) -> Measured:
    """The best and worst pair of constants on the tuning split."""
    found = candidates(experiment, experiment.dataset.tuning)
    baseline = float(found.values(found.fused(ReciprocalRank(60.0))).mean())
    grid = np.array([
        [float(found.values(found.fused(ReciprocalRank((float(lex), float(sem))))).mean()) - baseline for sem in ETAS]
        for lex in ETAS
    ])  # fmt: skip
    best, worst = (np.unravel_index(at, grid.shape) for at in (grid.argmax(), grid.argmin()))
    rows = {
        f"best: RRF({ETAS[best[0]]}, {ETAS[best[1]]})": {f"{found.ndcg} over RRF(60, 60)": float(grid.max())},
        f"worst: RRF({ETAS[worst[0]]}, {ETAS[worst[1]]})": {f"{found.ndcg} over RRF(60, 60)": float(grid.min())},
        "best on the diagonal": {f"{found.ndcg} over RRF(60, 60)": float(np.diag(grid).max())},
    }
    labels = Labels("eta of SEM", "eta of LEX", f"{found.ndcg} minus RRF(60, 60); {experiment.dataset.name}")
    name = f"BRUCH-FIG7-{experiment.dataset.name}"
    return Measured(rows, (grid_map(name, "nDCG over the constants of RRF", labels, (ETAS, ETAS), grid),))
