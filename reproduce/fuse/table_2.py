"""FUSE, table 2: every system alone and the best fusions, zero-shot, on the test split, and what a query costs.

BM25 is timed here. The models were timed on a GPU by recipes/french_scores.py, which writes ``costs.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lexfuse.channels.cost import costs_of
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import MinMax, Normaliser, ZScore
from lexfuse.optimisation.fusion_weights import tune_weights
from reproduce.experiment import Experiment
from reproduce.fuse.sources import DEPTH, LEXICAL, NAMES, asked_sources, score_folder
from reproduce.result import Measured

MEASURES = {"RP": "Rprec", "R@10": "R@10", "R@500": "R@500"}
FUSIONS: dict[str, tuple[tuple[str, ...], Normaliser]] = {
    "BM25 + SPLADE, z-score": (("BM25", "SPLADE"), ZScore()),
    "BM25 + ColBERT, min-max": (("BM25", "ColBERT"), MinMax()),
    "BM25 + SPLADE + DPR, z-score": (("BM25", "SPLADE", "DPR"), ZScore()),
    "BM25 + SPLADE + ColBERT, z-score": (("BM25", "SPLADE", "ColBERT"), ZScore()),
    "BM25 + DPR + ColBERT, z-score": (("BM25", "DPR", "ColBERT"), ZScore()),
    "BM25 + SPLADE + DPR + ColBERT, z-score": (("BM25", "SPLADE", "DPR", "ColBERT"), ZScore()),
}


def measure(experiment: Experiment) -> Measured:
    """One row a system."""
    dev, test = (asked_sources(experiment, "zero-shot", split) for split in ("dev", "test"))
    runs = test.systems()
    for name, (members, normaliser) in FUSIONS.items():
        rows = [test.union.names.index(member) for member in members if member in test.union.names]
        if len(rows) == len(members):
            tuned = tune_weights(dev.union.only(rows), Convex(None, normaliser), dev.qrels, "R@10")
            runs[name] = tuned.fusion.fused(test.union.only(rows), DEPTH)
    found = {name: evaluate(test.qrels, run, " ".join(MEASURES.values())) for name, run in runs.items()}
    table = {name: {column: one.mean(measure) for column, measure in MEASURES.items()} for name, one in found.items()}
    notes = [f"{len(test.qrels.queries)} questions of test."]
    path = score_folder(experiment) / "costs.json"
    timed = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    for kind, cost in timed.items():
        table.setdefault(NAMES[kind], {}).update({"GPU, s": cost["median"], "GFLOPs": cost["flops"] / 1e9})
    table[LEXICAL] |= lexical_cost(experiment)
    return Measured(table, notes=(*notes, devices(timed)))


def devices(timed: Mapping[str, Mapping[str, Any]]) -> str:
    """Where each model was timed: two models are comparable only on the same device."""
    if not timed:
        return "Models were not timed: recipes/french_scores.py costs does it."
    models: dict[str, list[str]] = {}
    for kind, cost in timed.items():
        models.setdefault(cost["device"], []).append(NAMES[kind])
    shown = "; ".join(f"{device} ({', '.join(names)})" for device, names in models.items())
    return f"Models were timed on: {shown}."


def lexical_cost(experiment: Experiment) -> dict[str, float]:
    """Seconds and operations of a query by BM25 on this machine."""
    queries, _ = experiment.dataset.judged("dev")
    (words,) = costs_of(experiment.snapshot(), queries, channels=["bm25"])
    return {"CPU, s": (words.read_p50 + words.search_p50) / 1000, "GFLOPs": words.flops / 1e9}
