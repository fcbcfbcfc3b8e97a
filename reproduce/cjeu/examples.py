"""Queries and the paragraphs that they cite, drawn from the groups of figures 2 and 5: tables 5 and 9 to 12.

A module prints ids, ranks and how much both texts share; --text prints the paragraphs too, which are not ours to publish.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.advice.evidence.verbatim_overlap import EDITS, QUERY_LENGTH, SUBSEQUENCE, ngrams_in_common, shared_words
from lexfuse.errors import NotFoundError
from lexfuse.evaluation.evaluation import evaluate
from reproduce.cjeu.retrievers import model_names, run_of
from reproduce.experiment import Experiment
from reproduce.result import Measured

COUNT = 3  # examples of a table
SEED = 1
PERFECT, BETTER = "both perfect recall", "BM25 better"
METRICS = (EDITS, ngrams_in_common(3), ngrams_in_common(4), SUBSEQUENCE, QUERY_LENGTH)


@dataclass(frozen=True)
class Scenario:
    """A dense model, the recall that groups queries, and the group that examples are drawn from."""

    model: str
    measure: str
    group: str

    def members(self, experiment: Experiment) -> list[str]:
        """The test queries of the group: recall 1 by both models, or 1 by BM25 and 0 by the other."""
        if self.model not in model_names(experiment):
            raise NotFoundError(f"{self.model} was not asked; name a folder that has {self.model}.npz with --models")
        queries, qrels = experiment.dataset.judged(experiment.dataset.test)
        found = [evaluate(qrels, run_of(experiment, name, queries), self.measure) for name in ("BM25", self.model)]
        lexical, dense = (one.values(self.measure) for one in found)
        wanted = 1.0 if self.group == PERFECT else 0.0
        return sorted(
            query for query, one, two in zip(found[0].queries, lexical, dense, strict=True)
            if np.isclose(one, 1.0) and np.isclose(two, wanted)
        )  # fmt: skip

    def drawn(self, members: list[str], count: int) -> list[str]:
        """Some of them, drawn at random by a fixed seed."""
        order = np.random.default_rng(SEED).permutation(len(members))[:count]
        return [members[int(at)] for at in order]


@dataclass(frozen=True)
class Example:
    """A query and the cited paragraph that BM25 ranks first of all that the query cites."""

    query: str
    cited: str
    values: dict[str, float]
    note: str
    text: str


def examples(experiment: Experiment, scenario: Scenario, count: int = COUNT) -> tuple[list[Example], str]:
    """Some examples of a scenario, and a sentence about how they were drawn."""
    members = scenario.members(experiment)
    found = [_example(experiment, scenario, query) for query in scenario.drawn(members, count)]
    drawn = f"{len(found)} of {len(members)} queries drawn at random (seed {SEED}): {scenario.group}, BM25 and {scenario.model}"
    return found, f"{drawn}, by {scenario.measure}."


def example_table(experiment: Experiment, scenario: Scenario) -> Measured:
    """The examples of tables 9 to 12."""
    found, drawn = examples(experiment, scenario)
    rows = {f"example {number}": one.values for number, one in enumerate(found, start=1)}
    notes = [f"Example {number}: {one.note}" for number, one in enumerate(found, start=1)]
    return Measured(rows, notes=(drawn, *notes), texts=tuple(one.text for one in found))


def _example(experiment: Experiment, scenario: Scenario, query: str) -> Example:
    queries, qrels = experiment.dataset.judged(experiment.dataset.test)
    corpus, asked = experiment.dataset.collection.corpus, queries.query(query)
    relevant = [doc for doc, grade in qrels.judged(query).items() if grade > 0]
    ranks = {
        name: {hit.doc: hit.rank for hit in run_of(experiment, name, queries).hits(query)} for name in ("BM25", scenario.model)
    }
    cited = min(relevant, key=lambda doc: (ranks["BM25"].get(doc, np.inf), doc))
    document = corpus.document(cited)
    shared = shared_words([(asked.text, [document.text])])
    values = {f"rank by {name}": ranks[name].get(cited, np.nan) for name in ranks}
    values |= {metric: float(shared[metric][0]) for metric in METRICS}
    more = f", {len(relevant) - 1} more cited" if len(relevant) > 1 else ""
    note = f"{query} ({asked.date}) cites {cited} ({document.date}){more}."
    return Example(query, cited, values, note, f"{query}\n  {asked.text}\n{cited}\n  {document.text}")
