"""BRUCH, figure 5: the difference in nDCG of TM2C2 and RRF (eta 60) over alpha, on the test split."""

from __future__ import annotations

from lexfuse.fusion.normalisation import TheoreticalMinMax
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from reproduce.bruch.candidates import ALPHAS, candidates
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """Where TM2C2 is better, and by how much at most."""
    found = candidates(experiment, experiment.dataset.test)
    baseline = float(found.values(found.fused(ReciprocalRank(60.0))).mean())
    above = found.sweep(TheoreticalMinMax()).mean(axis=1) - baseline
    better = ALPHAS[above > 0]
    rows = {
        "alpha from which TM2C2 is better": {found.ndcg: float(better.min())} if len(better) else {},
        "alpha up to which it is better": {found.ndcg: float(better.max())} if len(better) else {},
        "largest difference": {found.ndcg: float(above.max())},
        "its alpha": {found.ndcg: float(ALPHAS[above.argmax()])},
    }
    labels = Labels("alpha", f"{found.ndcg} of TM2C2 minus RRF(60)", f"{experiment.dataset.name}, test")
    line = {"TM2C2 - RRF(60)": Curve(ALPHAS.tolist(), above.tolist())}
    name = f"BRUCH-FIG5-{experiment.dataset.name}"
    holds = "The claim holds here." if len(better) else "The claim does not hold here: no alpha is better than RRF."
    return Measured(rows, (curves(name, "TM2C2 minus RRF over alpha", labels, line, levels={"RRF(60)": 0.0}),), (holds,))
