"""SBERT fine-tuned on growing shares of the citations, oldest first: tables 6 and 13 and figure 4 of CJEU.

The models are folders ``cjeu-dense-10``, ``cjeu-dense-20``, … in the folder that --models names; ``lexfuse train dense --shares
10,20,30,50,70,80 --by date`` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import open_retriever
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.search.temporal_filter import retrieve_before
from reproduce.cjeu.retrievers import DEPTH, SBERT, SETTINGS, run_of
from reproduce.experiment import Experiment

SHARES = (10, 20, 30, 50, 70, 80)  # per cent


def growing_rows(experiment: Experiment, measures: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Measures of SBERT before and after training on every share that has a model, and of BM25."""
    queries, qrels = experiment.dataset.judged(experiment.dataset.test)
    models = {"Zero-shot": SBERT}
    models |= {f"{share} %": experiment.model(name) for share in SHARES if experiment.has_model(name := f"cjeu-dense-{share}")}

    def asked(name: str) -> Run:
        channel = "dense" if name == "Zero-shot" else f"dense-{name.removesuffix(' %')}"
        snapshot = experiment.snapshot(SETTINGS, {channel: ChannelPlan(models[name])})
        return retrieve_before(open_retriever(snapshot, channel), queries, DEPTH)

    runs = {name: experiment.once(("growing", name), lambda name=name: asked(name)) for name in models}  # type: ignore[misc]
    runs["BM25"] = run_of(experiment, "BM25", queries)
    found = {name: evaluate(qrels, run, " ".join(measures.values())) for name, run in runs.items()}
    return {name: {column: one.mean(measure) for column, measure in measures.items()} for name, one in found.items()}
