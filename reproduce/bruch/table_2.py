"""BRUCH, table 2: reciprocal ranks with one constant for each source, against TM2C2."""

from __future__ import annotations

from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from reproduce.bruch.candidates import candidates, marked
from reproduce.experiment import Experiment
from reproduce.result import Measured

FUSIONS = {
    "TM2C2": TM2C2(0.8),
    "RRF(60,60)": ReciprocalRank(60.0),
    "RRF(5,5)": ReciprocalRank(5.0),
    "RRF(10,4)": ReciprocalRank((10.0, 4.0)),
}


def measure(experiment: Experiment) -> Measured:
    """The nDCG on the test queries; marks: ‡ differs from TM2C2, * from RRF(60,60)."""
    found = candidates(experiment, experiment.dataset.test)
    values = {name: found.values(found.fused(fusion)) for name, fusion in FUSIONS.items()}
    versus = {"‡": values["TM2C2"], "*": values["RRF(60,60)"]}
    return Measured({name: {found.ndcg: marked(one, versus if name != "TM2C2" else {})} for name, one in values.items()})
