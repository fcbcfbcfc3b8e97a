"""The tables and figures of RPRS on a few short judgments, with the French model of the package in place of the English one."""

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.encode import passage_plan
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsPoint
from reproduce.datasets import DataFolders
from reproduce.experiment import Experiment, Workspace
from reproduce.paper_table import all_tables
from reproduce.rprs import figure_2, figure_4, figure_5, judgments, table_2

specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parents[1] / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

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
    for module in (judgments, figure_2, table_2):
        monkeypatch.setattr(module, "PLAN", plan)
    for module in (judgments, figure_2, figure_4, table_2):
        monkeypatch.setattr(module, "GRID", SMALL)
    monkeypatch.setattr(judgments, "K1S", (1.2, 2.8))
    monkeypatch.setattr(judgments, "SHARES", (0.5,))
    monkeypatch.setattr(figure_2, "SIZES", (4, 8))
    monkeypatch.setattr(figure_2, "PAPER", RprsPoint(1, 0.0, 0.0, 2))
    monkeypatch.setattr(judgments, "FOLDS", 2)
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


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Adapted encoders, which are the encoder itself, and a tiny cross-encoder."""
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    for name in table_2.ADAPTED.values():
        shutil.copytree(locate_model("fr-legal-dense"), tmp_path / name)
    path = tiny.folder(tmp_path / judgments.CROSS, head="classes")
    named = tiny.tensors("bert", ModelTokenizer(ModelFolder.read(path)).vocabulary_size, "classes")
    named |= {f"classifier.{kind}": named[f"classifier.{kind}"][:1] for kind in ("weight", "bias")}
    tiny.safetensors(path / "model.safetensors", named)
    return tmp_path


def test_with_models_cross_encoders_are_ranked_too(experiment, models):
    measured = all_tables()["RPRS-3"].measure(replace(experiment, models=models))
    assert list(measured.rows) == list(judgments.SYSTEMS)
    assert {"BERT", "Birch, cross-encoder", "SDR, all documents"} < set(measured.rows)


def test_an_adapted_model_is_compared_with_its_base(experiment, models):
    rows = all_tables()["RPRS-2"].measure(replace(experiment, models=models)).rows
    assert list(rows) == [judgments.FIRST_STAGE, table_2.BASE, *table_2.ADAPTED]
    assert [rows[name]["AP test"] for name in table_2.ADAPTED] == [rows[table_2.BASE]["AP test"]] * 2  # the same weights
    assert "p" in rows["all-MiniLM-L6-v2-TSDAE"]


def test_scores_of_sentences_are_computed_once():
    class Counter:
        members, asked = (), 0

        def scores(self, query, docs):
            self.asked += 1
            return [np.ones(2, np.float32)] * len(docs)

    counter = Counter()
    stored = judgments.StoredSentenceScores(counter)
    for docs in (["a", "b"], ["a", "b"], ["a"]):
        assert len(stored.scores(Query("q", "le bail"), docs)) == len(docs)
    assert counter.asked == 2


@pytest.mark.parametrize("splitter", [figure_2.by_nupunkt, figure_2.by_full_stops])
def test_a_segmenter_gives_every_word_once(splitter):
    text = " He was convicted under Sec. 302 I.P.C.\nThe High Court affirmed.\n\n2. He appealed! "
    found = splitter(text, "en")
    assert " ".join(one.of(text) for one in found).split() == text.split()
    assert all(one.of(text) == one.of(text).strip() for one in found)


def test_another_segmenter_divides_only_inside_its_context():
    plan, document = (
        passage_plan.PassagePlan.usual(passage_plan.PassageScheme.SENTENCES),
        Document("d", text="Sec. 3 says so. Yes."),
    )
    usual = [text for text, _ in plan.of(document, passage_plan.WordUnits())]
    with figure_2.segmented_by(figure_2.by_full_stops):
        assert [text for text, _ in plan.of(document, passage_plan.WordUnits())] == ["Sec.", "3 says so.", "Yes."]
    assert [text for text, _ in plan.of(document, passage_plan.WordUnits())] == usual


def test_transferred_parameters_stand_next_to_those_tuned_here(experiment):
    rows = all_tables()["RPRS-4"].measure(experiment).rows
    assert {"RPRS w/freq", "RPRS w/freq, tuned here", "RPRS w/freq, nothing tuned here"} < set(rows)
    assert all("p" in row for name, row in rows.items() if name != "RPRS w/freq, tuned here")
    assert "RPRS w/freq" not in all_tables()["RPRS-4"].measure(replace(experiment, slow=False)).rows
