"""FUSE, table 4: every system alone, trained in-domain, on dev and test."""

from __future__ import annotations

from lexfuse.evaluation.evaluation import evaluate
from reproduce.experiment import Experiment
from reproduce.fuse.sources import asked_sources
from reproduce.result import Measured

MEASURES = ("R@10", "R@100", "R@500", "RR@100")


def measure(experiment: Experiment) -> Measured:
    """One row a system."""
    rows: dict[str, dict[str, float]] = {}
    for split in ("dev", "test"):
        asked = asked_sources(experiment, "in-domain", split)
        for name, run in asked.systems().items():
            found = evaluate(asked.qrels, run, " ".join(MEASURES))
            rows.setdefault(name, {}).update({f"{measure}, {split}": found.mean(measure) for measure in MEASURES})
    return Measured(rows)
