"""BRUCH, table 1: recall and nDCG of BM25, a dense retriever, TM2C2 and RRF, and of the best alpha of every query."""

from __future__ import annotations

from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.normalisation import TheoreticalMinMax
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from reproduce.bruch.candidates import Candidates, candidates, marked
from reproduce.experiment import Experiment
from reproduce.result import Marked, Measured


def measure(experiment: Experiment) -> Measured:
    """All systems on the test queries; marks: ‡ differs from TM2C2, * from RRF."""
    found = candidates(experiment, experiment.dataset.test)
    lexical, semantic = found.runs
    runs = {"LEX": lexical, "SEM": semantic, "TM2C2": found.fused(TM2C2(0.8)), "RRF(60)": found.fused(ReciprocalRank(60.0))}
    rows: dict[str, dict[str, float | Marked]] = {name: {} for name in runs}
    for measure in (found.recall, found.ndcg):
        values = {name: found.values(run, measure) for name, run in runs.items()}
        versus = {"‡": values["TM2C2"], "*": values["RRF(60)"]}
        for name in runs:
            rows[name][measure] = marked(values[name], versus if name != "TM2C2" else {})
    rows["oracle"] = {found.ndcg: oracle(found)}
    return Measured(rows)


def oracle(found: Candidates) -> float:
    """The nDCG where every query has its best alpha, in steps of 0.01."""
    return float(found.sweep(TheoreticalMinMax()).max(axis=0).mean())
