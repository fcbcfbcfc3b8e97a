"""RPRS, table 3: precision, recall and F1 of first stages and rerankers, with whole judgments as queries."""

from __future__ import annotations

from lexfuse.evaluation.evaluation import evaluate
from reproduce.experiment import Experiment
from reproduce.result import Measured
from reproduce.rprs.judgments import judged, runs

CUTOFF = 5
MEASURES = {"precision": f"microP@{CUTOFF}", "recall": f"microR@{CUTOFF}", "F1": f"microF1@{CUTOFF}", "MAP": "AP"}


def measure(experiment: Experiment) -> Measured:
    """One row a system; MAP over whole rankings is ours."""
    asked = judged(experiment)
    rows = {}
    for name, run in runs(experiment).items():
        found = evaluate(asked.qrels, run, " ".join(MEASURES.values()))
        rows[name] = {column: found.mean(measure) for column, measure in MEASURES.items()}
    return Measured(rows, notes=(f"{len(asked.queries)} judgments, {len(asked.lengths):,} documents.",))
