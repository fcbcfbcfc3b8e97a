"""CJEU, table 14: a broader test period, for which less data is left to train on."""

from __future__ import annotations

import datetime
from dataclasses import replace

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import open_retriever
from lexfuse.data.periods import Periods, split_by_period
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.data.sources.names import WithinTest
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.search.temporal_filter import retrieve_before
from reproduce.cjeu import retrievers
from reproduce.cjeu.retrievers import DEPTH, SETTINGS, retriever
from reproduce.cjeu.table_4 import MEASURES
from reproduce.experiment import Experiment
from reproduce.result import Measured

# The first days of dev and test: those of the paper, and for the collection at hand half of its train citations before 2018.
PERIODS = {
    "cjeu-paragraph-retrieval": Periods(datetime.date(2012, 1, 1), datetime.date(2015, 1, 1)),
    "cjeu": Periods(datetime.date(2018, 1, 1), datetime.date(2018, 7, 1)),
}
DENSE = {"SBERT": "wide-SBERT", "SBERT-ft-50pct": "wide-SBERT-ft"}  # the row, and the model or its ranking


def measure(experiment: Experiment) -> Measured:
    """One row a model."""
    dataset = experiment.dataset
    periods, rule = PERIODS[dataset.name], WithinTest.REMOVE_CITATIONS if dataset.own else WithinTest.KEEP
    wide = split_by_period(dataset.collection, periods, rule)
    qrels, every = wide.qrels["test"], wide.queries or Queries.of([])
    queries = every.select(every.ids.ordinals(qrels.queries).tolist())
    runs = {"BM25": retrieve_before(retriever(experiment, "BM25"), queries, DEPTH)}
    for row, name in DENSE.items():
        if (run := _ranked(experiment, name, queries)) is not None:
            runs[row] = run
    rows = {}
    for row, run in runs.items():
        found = evaluate(qrels, run, " ".join(MEASURES.values()))
        rows[row] = {column: found.mean(measure) for column, measure in MEASURES.items()}
    counts = ", ".join(f"{split} {len(one):,} citations of {len(one.queries):,} queries" for split, one in wide.qrels.items())
    return Measured(rows, notes=(f"Dev from {periods.dev_from} and test from {periods.test_from} on: {counts}.",))


def _ranked(experiment: Experiment, name: str, queries: Queries) -> Run | None:
    """What a model ranks, stored or asked now; None where neither is at hand."""
    if (stored := experiment.stored_ranking(name)) is not None:
        return replace(stored.of(queries), name=name)
    zero_shot = name == DENSE["SBERT"]
    if not (experiment.slow and (zero_shot or experiment.has_model(name))):
        return None
    channel, model = ("dense", retrievers.SBERT) if zero_shot else ("dense-wide", experiment.model(name))
    snapshot = experiment.snapshot(SETTINGS, {channel: ChannelPlan(model)})
    return retrieve_before(open_retriever(snapshot, channel), queries, DEPTH)
