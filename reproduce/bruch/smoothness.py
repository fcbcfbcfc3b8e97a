"""What figures 9 and 10 of BRUCH share: nDCG of smooth reciprocal ranks over their steepness beta."""

from __future__ import annotations

from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from reproduce.bruch.candidates import candidates, smooth_ranks, values_of_ranks
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured

BETAS = (1, 2, 5, 10, 20, 40, 70, 100, 200, 500, 1000)


def smooth_curve(experiment: Experiment, eta: float, number: str) -> Measured:
    """SRRF minus RRF on the test split, with one eta."""
    found = candidates(experiment, experiment.dataset.test)
    baseline = float(found.values(found.fused(ReciprocalRank(eta))).mean())
    above = []
    for beta in BETAS:
        ranks = experiment.once(("smooth ranks", beta), lambda beta=beta: smooth_ranks(found, float(beta)))  # type: ignore[misc]
        above.append(float(values_of_ranks(found, ranks, eta).mean()) - baseline)
    best = max(range(len(BETAS)), key=above.__getitem__)
    rows = {
        "beta 1": {f"{found.ndcg} over RRF": above[0]},
        f"best: beta {BETAS[best]}": {f"{found.ndcg} over RRF": above[best]},
        f"beta {BETAS[-1]}": {f"{found.ndcg} over RRF": above[-1]},
    }
    labels = Labels("beta", f"{found.ndcg} of SRRF minus RRF", f"{experiment.dataset.name}, eta {eta:g}")
    lines = {"SRRF - RRF": Curve(BETAS, above)}
    plot = curves(f"{number}-{experiment.dataset.name}", f"SRRF minus RRF with eta {eta:g}", labels, lines,
                  levels={"RRF": 0.0}, log=True)  # fmt: skip
    return Measured(rows, (plot,))
