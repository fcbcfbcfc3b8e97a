"""CJEU, table 4: BM25, TF-IDF of n-grams and dense models, among the paragraphs that are earlier than the query."""

from __future__ import annotations

from dataclasses import replace

from lexfuse.evaluation.evaluation import evaluate
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations
from reproduce.cjeu.retrievers import MASKED, model_names, run_of
from reproduce.experiment import Experiment
from reproduce.result import Measured

MEASURES = {"R@1": "R@1", "R@5": "R@5", "R@10": "R@10", "R@20": "R@20", "nDCG@10": "nDCG@10", "MAP": "AP", "MRR": "RR"}


def measure(experiment: Experiment) -> Measured:
    """One row a model, with the queries as printed and masked."""
    queries, qrels = experiment.dataset.judged(experiment.dataset.test)
    masked = replace(queries, text=tuple(mask_citations(text, DECISIONS) for text in queries.text))
    rows = {}
    for form, asked, words in (("", queries, ""), (MASKED, masked, ", masked")):
        for name in model_names(experiment, form):
            found = evaluate(qrels, run_of(experiment, name, asked, form), " ".join(MEASURES.values()))
            rows[name + words] = {column: found.mean(measure) for column, measure in MEASURES.items()}
    return Measured(rows, notes=(f"{len(qrels.queries)} queries of {experiment.dataset.test}.",))
