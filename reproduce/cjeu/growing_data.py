"""SBERT fine-tuned on growing shares of the citations, oldest first: tables 6 and 13 and figure 4 of CJEU.

The models are folders ``cjeu-dense-10``, ``cjeu-dense-20``, … in the folder that --models names, or what they ranked,
``cjeu-dense-10.npz``, …, stored by recipes/rankings.py. ``lexfuse train dense --shares 10,20,30,50,70,80,100 --by date`` trains
them.
"""

from __future__ import annotations

from collections.abc import Mapping

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import open_retriever
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.search.temporal_filter import retrieve_before
from reproduce.cjeu.retrievers import DEPTH, SETTINGS, run_of
from reproduce.experiment import Experiment

SHARES = (10, 20, 30, 50, 70, 80, 100)  # per cent of the train citations


def growing_rows(experiment: Experiment, measures: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Measures of SBERT before and after training on every share that has a model, and of BM25."""
    queries, qrels = experiment.dataset.judged(experiment.dataset.test)

    def asked(name: str) -> Run:
        stored = experiment.stored_ranking(name)
        if stored is not None:
            return stored.of(queries)
        channel = name.removeprefix("cjeu-")
        snapshot = experiment.snapshot(SETTINGS, {channel: ChannelPlan(experiment.model(name))})
        return retrieve_before(open_retriever(snapshot, channel), queries, DEPTH)

    names = {f"{share} %": f"cjeu-dense-{share}" for share in SHARES}
    runs = {"Zero-shot": run_of(experiment, "SBERT", queries)}
    for row, name in names.items():
        if experiment.has_model(name) or experiment.stored_ranking(name):
            runs[row] = experiment.once(("growing", name), lambda name=name: asked(name))  # type: ignore[misc]
    runs["BM25"] = run_of(experiment, "BM25", queries)
    found = {name: evaluate(qrels, run, " ".join(measures.values())) for name, run in runs.items()}
    return {name: {column: one.mean(measure) for column, measure in measures.items()} for name, one in found.items()}
