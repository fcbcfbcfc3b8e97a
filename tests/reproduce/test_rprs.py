"""The tables and figures of RPRS on a few short judgments, with the French model of the package in place of the English one."""

from dataclasses import replace

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsPoint
from reproduce.datasets import DataFolders
from reproduce.experiment import Experiment, Workspace
from reproduce.paper_table import all_tables
from reproduce.rprs import figure_2, figure_4, figure_5, judgments

SUBJECTS = ("le bail est résilié", "le salarié est licencié", "la vente est nulle", "le juge est saisi", "le loyer est dû",
            "le congé est payé")  # fmt: skip
SMALL = RprsGrid(n=(1, 2), k1=(0.0, 1.0), b=(0.0, 0.5), depth=(2, 4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six judgments that are found by six others: those of one subject, three splits of two."""
    folder = tmp_path_factory.mktemp("rprs")
    documents = [Document(f"d{at}", text=text(subject, at), language="fr") for at, subject in enumerate(SUBJECTS)]
    queries = Queries.of([Query(f"q{at}", text(subject, at + 1), "fr") for at, subject in enumerate(SUBJECTS)])
    pairs = [(f"q{at}", f"d{at}", 1) for at in range(len(SUBJECTS))]
    splits = {split: Qrels.of(pairs[at : at + 2]) for at, split in ((0, "train"), (2, "dev"), (4, "test"))}
    write_collection(Collection(Corpus.of(documents), queries, splits), folder / "data" / "coliee2021")
    return folder


def text(subject, more):
    return " ".join(f"{subject.capitalize()} par la cour{' suprême' * at}." for at in range(1 + more % 3))


@pytest.fixture
def experiment(folder, monkeypatch):
    monkeypatch.delenv("LEXFUSE_DATA", raising=False)
    plan = judgments.PLAN.with_model("fr-legal-dense")
    for module in (judgments, figure_2):
        monkeypatch.setattr(module, "PLAN", plan)
    for module in (judgments, figure_2, figure_4):
        monkeypatch.setattr(module, "GRID", SMALL)
    monkeypatch.setattr(judgments, "K1S", (1.2, 2.8))
    monkeypatch.setattr(judgments, "SHARES", (0.5,))
    monkeypatch.setattr(figure_2, "SIZES", (4, 8))
    monkeypatch.setattr(figure_2, "PAPER", RprsPoint(1, 0.0, 0.0, 2))
    for module in (judgments, figure_2):
        monkeypatch.setattr(module, "FOLDS", 2)
    monkeypatch.setattr(figure_4, "LENGTHS", (4, 8))
    monkeypatch.setattr(figure_5, "NS", (1, 2))
    monkeypatch.setattr(figure_5, "B_S", (0.0, 0.5))
    monkeypatch.setattr(figure_5, "AT_DEPTH", 4)
    (dataset,) = DataFolders.of(folder / "data").datasets(["coliee2021"])
    with Workspace(folder / "work") as workspace:
        yield Experiment(dataset, workspace, slow=True)


@pytest.mark.parametrize("number", [number for number in all_tables() if number.startswith("RPRS")])
def test_every_table_and_figure_measures(experiment, number):
    measured = all_tables()[number].measure(experiment)
    assert measured.rows
    assert bool(measured.plots) == ("FIG" in number)


def test_without_slow_only_the_first_stages_are_ranked(experiment):
    measured = all_tables()["RPRS-3"].measure(replace(experiment, slow=False))
    assert list(measured.rows) == list(judgments.LEXICAL)
    assert measured.rows["BM25"]["AP test"] == 1.0
