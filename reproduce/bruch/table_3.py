"""BRUCH, table 3: smooth reciprocal ranks (eq. 9) against reciprocal ranks and TM2C2."""

from __future__ import annotations

from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from reproduce.bruch.candidates import candidates, marked
from reproduce.experiment import Experiment
from reproduce.result import Measured

FUSIONS = {
    "TM2C2": TM2C2(0.8),
    "RRF(60)": ReciprocalRank(60.0),
    "SRRF(60,40)": SmoothReciprocalRank(60.0, 40.0),
    "RRF(5)": ReciprocalRank(5.0),
    "SRRF(5,100)": SmoothReciprocalRank(5.0, 100.0),
}
BASELINES = {"SRRF(60,40)": "RRF(60)", "SRRF(5,100)": "RRF(5)"}


def measure(experiment: Experiment) -> Measured:
    """The nDCG on the test queries; marks: ‡ differs from TM2C2, * a smooth variant from RRF with the same eta."""
    found = candidates(experiment, experiment.dataset.test)
    values = {name: found.values(found.fused(fusion)) for name, fusion in FUSIONS.items()}
    rows = {}
    for name, one in values.items():
        versus = {"‡": values["TM2C2"]} if name != "TM2C2" else {}
        if name in BASELINES:
            versus["*"] = values[BASELINES[name]]
        rows[name] = {found.ndcg: marked(one, versus)}
    return Measured(rows)
