"""The tables and figures of BRUCH on candidates made by hand: all of them measure, and the arithmetic is right."""

import shutil
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.run_union import union_of
from reproduce.bruch.candidates import Candidates, candidates, marked
from reproduce.bruch.figure_1 import auc
from reproduce.bruch.figure_12 import SHARES, TRIALS, sample_means
from reproduce.datasets import DataFolders
from reproduce.experiment import Experiment, Workspace
from reproduce.paper_table import all_tables

DOCS = tuple("abcdef")
QUERIES = tuple(f"q{at}" for at in range(6))


def made(seed):
    """Two sources that rank six documents: the lexical one likes the relevant document of even queries, the other of all."""
    chance = np.random.default_rng(seed)
    relevant = {query: DOCS[at % len(DOCS)] for at, query in enumerate(QUERIES)}

    def run(name, low, high, lift):
        return Run.of(
            name,
            {
                query: {doc: float(chance.uniform(low, high)) + (lift(at) if doc == relevant[query] else 0.0) for doc in DOCS}
                for at, query in enumerate(QUERIES)
            },
        ).bounded(low)

    lexical = run("LEX", 0.0, 10.0, lambda at: 8.0 * (at % 2 == 0))
    semantic = run("SEM", -1.0, 0.5, lambda at: 0.4)
    qrels = Qrels.of([(query, doc, 1) for query, doc in relevant.items()])
    return Candidates(union_of([lexical, semantic]), qrels, (lexical, semantic), 100)


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    monkeypatch.delenv("LEXFUSE_DATA", raising=False)
    queries = Queries.of([Query(query, "x") for query in QUERIES])
    qrels = Qrels.of([("q0", "a", 1)])
    documents = Corpus.of([Document(doc, text=doc) for doc in DOCS])
    write_collection(Collection(documents, queries, {"train": qrels, "test": qrels}), tmp_path / "data" / "scifact")
    (dataset,) = DataFolders.of(tmp_path / "data").datasets(["scifact"])
    workspace = Workspace(tmp_path / "work")
    for seed, split in enumerate(("train", "test")):
        workspace.once(("scifact", ("bruch", split)), lambda seed=seed: made(seed))
    return Experiment(dataset, workspace)


@pytest.mark.parametrize("number", [number for number in all_tables() if number.startswith("BRUCH")])
def test_every_table_and_figure_measures(experiment, number):
    table = all_tables()[number]
    measured = table.measure(experiment)
    assert measured.rows or measured.plots
    assert bool(measured.plots) == ("FIG" in number)
    paper = table.rows("scifact")
    assert {row: set(cells) for row, cells in paper.items()} == {row: set(measured.rows[row]) for row in paper}


def test_constants_of_one_collection_are_measured_on_another(experiment, tmp_path):
    """Both choose on their tuning split; each has a row for every choice, and its own is not marked as another's."""
    shutil.copytree(tmp_path / "data" / "scifact", tmp_path / "data" / "irled2017")
    datasets = DataFolders.of(tmp_path / "data").datasets(["scifact"], ["irled2017", "cjeu"])
    assert [(one.name, one.own) for one in datasets] == [("scifact", True), ("irled2017", False)]
    assert "ANOTHER COLLECTION, which the paper does not have" in datasets[1].label
    for seed, split in enumerate(("train", "test"), start=2):
        experiment.workspace.once(("irled2017", ("bruch", split)), lambda seed=seed: made(seed))
    table = all_tables()["BRUCH-2"]
    for dataset in datasets:
        measured = table.measure(replace(experiment, dataset=dataset, datasets=tuple(datasets)))
        tuned = [row for row in measured.rows if "tuned on" in row]
        assert [row.split("tuned on ")[1] for row in tuned] == ["scifact", "irled2017"] * 2
        own = next(row for row in tuned if row.startswith("RRF") and row.endswith(dataset.name))
        assert "†" not in measured.rows[own]["nDCG@100"].mark
        other = next(one.name for one in datasets if one is not dataset)
        assert len(measured.notes) == 2
        assert all(f"against what {dataset.name} chose: " in note and f"(tuned on {other})" in note for note in measured.notes)
        lex, sem = map(float, own.split("(")[1].split(")")[0].split(","))
        found = candidates(replace(experiment, dataset=dataset), "train")
        chosen = found.values(found.fused(ReciprocalRank((lex, sem)))).mean()
        others = [found.values(found.fused(ReciprocalRank(pair))).mean() for pair in product((1.0, 10.0, 60.0, 100.0), repeat=2)]
        assert chosen >= max(others) - 1e-9


@pytest.mark.parametrize(("name", "reason"), [("cjeu", "needs --slow"), ("fr-labour", "needs fr-labour-scores next to")])
def test_a_collection_that_cannot_be_measured_now_says_why_and_is_not_chosen_on(experiment, tmp_path, name, reason):
    shutil.copytree(tmp_path / "data" / "scifact", tmp_path / "data" / name)
    datasets = tuple(DataFolders.of(tmp_path / "data").datasets(["scifact"], [name]))
    table = all_tables()["BRUCH-2"]
    other = table.measure(replace(experiment, dataset=datasets[1], datasets=datasets))
    assert not other.rows
    assert reason in other.notes[0]
    tuned = [row for row in table.measure(replace(experiment, datasets=datasets)).rows if "tuned on" in row]
    assert [row.split("tuned on ")[1] for row in tuned] == ["scifact", "scifact"]


def test_a_mean_is_marked_where_it_differs():
    low, high = np.array([0.1, 0.2, 0.1, 0.15]), np.array([0.9, 0.8, 0.85, 0.9])
    assert marked(low, {"‡": high, "*": low}).mark == "‡"


def test_the_area_under_the_curve_counts_ties_half():
    assert auc(np.array([3.0, 1.0]), np.array([1.0, 0.0])) == (2 + 1.5) / 4


def test_the_best_point_of_a_sample_is_measured_on_the_test_queries():
    train = np.array([[0.0] * 40, [1.0] * 40])
    means = sample_means(train, np.array([0.3, 0.7]))
    assert means.shape == (len(SHARES), TRIALS)
    assert (means == 0.7).all()
