"""How much of a cited paragraph is in the query, where both models find it and where BM25 alone does: figures 2, 3, 5 and 6."""

from __future__ import annotations

from lexfuse.advice.evidence.query_overlap import FIRST, PERFECT, OverlapAnalysis, overlap
from lexfuse.advice.evidence.verbatim_overlap import EDITS, NGRAMS, SUBSEQUENCE, ngrams_in_common
from lexfuse.errors import NotFoundError
from reproduce.cjeu.retrievers import model_names, run_of
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, bars, curves
from reproduce.result import Measured

GROUPS = {PERFECT: "both perfect recall", FIRST: "BM25 better"}


def overlap_of(experiment: Experiment, model: str, measure: str) -> OverlapAnalysis:
    """The groups of test queries by what BM25 and a dense model reach."""
    if model not in model_names(experiment):
        raise NotFoundError(
            f"{model} was not asked; name a folder that has {model}.npz with --models, or run with --slow, and for SBERT-ft with "
            "--models FOLDER that has cjeu-dense"
        )
    queries, qrels = experiment.dataset.judged(experiment.dataset.test)
    runs = run_of(experiment, "BM25", queries), run_of(experiment, model, queries)
    corpus = experiment.dataset.collection.corpus
    return experiment.once(
        ("overlap", model, measure), lambda: overlap(queries, qrels, runs, lambda id: corpus.document(id).text, measure)
    )


def ngram_figure(experiment: Experiment, model: str, measure: str, number: str) -> Measured:
    """The mean number of n-grams in common, n from 2 to 10, in both groups."""
    found = overlap_of(experiment, model, measure)
    rows, lines = {}, {}
    for group in found.groups:
        if group.name in GROUPS and group.queries:
            metrics = [ngrams_in_common(n) for n in NGRAMS]
            means, spread = ([of[metric] for metric in metrics] for of in (group.means, group.deviations))
            name = GROUPS[group.name]
            rows[name] = dict(zip(metrics, means, strict=True)) | {"queries": group.queries}
            band = tuple([mean + sign * one for mean, one in zip(means, spread, strict=True)] for sign in (-1, 1))
            lines[name] = Curve(list(NGRAMS), means, (band[0], band[1]))
    labels = Labels("n", "n-grams in common", f"{experiment.dataset.name}: BM25 and {model}, {measure}")
    return Measured(rows, (curves(number, "n-grams that query and cited paragraph share", labels, lines),), found.words)


def distance_figure(experiment: Experiment, model: str, measure: str, number: str) -> Measured:
    """The mean edit distance and longest common subsequence in both groups."""
    found = overlap_of(experiment, model, measure)
    groups = {GROUPS[group.name]: group for group in found.groups if group.name in GROUPS and group.queries}
    rows = {
        name: {f"{metric}{part}": of[metric] for metric in (EDITS, SUBSEQUENCE) for part, of in
               (("", group.means), (", standard deviation", group.deviations))}
        for name, group in groups.items()
    }  # fmt: skip
    drawn = {
        name: {metric: (group.means[metric], group.deviations[metric]) for metric in (EDITS, SUBSEQUENCE)}
        for name, group in groups.items()
    }
    labels = Labels("", "words", f"{experiment.dataset.name}: BM25 and {model}, {measure}")
    return Measured(rows, (bars(number, "Edit distance and common subsequence", labels, drawn),), found.words)
