"""The tables and figures of CJEU on a few paragraphs, with the French model of the package in place of SBERT."""

import datetime
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lexfuse
from lexfuse.data.collection_statistics import ParagraphCitations, decision_of
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import NotFoundError
from reproduce import __main__ as command
from reproduce.cjeu import retrievers
from reproduce.datasets import DataFolders
from reproduce.experiment import Experiment, Workspace
from reproduce.paper_table import all_tables

WORDS = ("consommateur", "travailleur", "marque", "aide", "asile", "impôt", "vente", "données")
NO_EXAMPLES = ("CJEU-10", "CJEU-12")  # there is no query that BM25 alone answers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Eight paragraphs of 2005, each quoted by one of 2010 to 2019."""
    folder = tmp_path_factory.mktemp("cjeu")
    documents = [
        Document(f"A{at // 2}#{at}", text=f"la notion de {word} est autonome", language="fr", date=datetime.date(2005, 1, 1))
        for at, word in enumerate(WORDS)
    ]
    years = (2010, 2016, 2013, 2017, 2019, 2019, 2019, 2019)
    queries = [
        Query(f"B{at}#1", f"la notion de {word} est autonome, selon la cour", "fr", datetime.date(years[at], 5, 1))
        for at, word in enumerate(WORDS)
    ]
    pairs = [(query.id, document.id, 1) for query, document in zip(queries, documents, strict=True)]
    splits = {"train": Qrels.of(pairs[:2]), "dev": Qrels.of(pairs[2:4]), "test": Qrels.of(pairs[4:])}
    write_collection(Collection(Corpus.of(documents), Queries.of(queries), splits), folder / "data" / "cjeu-paragraph-retrieval")
    for name in ("cjeu-dense", "cjeu-dense-10"):
        shutil.copytree(Path(lexfuse.__file__).parent / "models" / "fr-legal-dense", folder / "models" / name)
    return folder


@pytest.fixture
def experiment(folder, monkeypatch):
    monkeypatch.delenv("LEXFUSE_DATA", raising=False)
    monkeypatch.setattr(retrievers, "SBERT", "fr-legal-dense")
    (dataset,) = DataFolders.of(folder / "data").datasets(["cjeu-paragraph-retrieval"])
    with Workspace(folder / "work") as workspace:
        yield Experiment(dataset, workspace, slow=True, models=folder / "models")


@pytest.mark.parametrize("number", [number for number in all_tables() if number.startswith("CJEU")])
def test_every_table_and_figure_measures(experiment, number):
    measured = all_tables()[number].measure(experiment)
    assert bool(measured.rows) == (number not in NO_EXAMPLES)
    assert bool(measured.plots) == ("FIG" in number)


def test_citations_and_decisions_are_counted(experiment):
    found = ParagraphCitations.of(experiment.dataset.collection)
    assert len(found.edges) == len(WORDS)
    assert len(found.paragraphs) == 2 * len(WORDS)
    assert {decision_of(id) for id in found.paragraphs} == {f"A{at}" for at in range(4)} | {f"B{at}" for at in range(8)}
    assert all_tables()["CJEU-2"].measure(experiment).rows["test"] == {
        "first year": 2019, "last year": 2019, "citations": 4, "paragraphs": 8,
    }  # fmt: skip


def test_without_slow_the_figures_of_dense_models_are_an_error(experiment):
    with pytest.raises(NotFoundError, match="run with --slow"):
        all_tables()["CJEU-FIG2"].measure(replace(experiment, slow=False))


def test_a_model_that_is_missing_is_an_error(experiment):
    with pytest.raises(NotFoundError, match="no model 'nothing'"):
        experiment.model("nothing")


def test_only_shares_with_a_model_are_measured(experiment):
    assert list(all_tables()["CJEU-6"].measure(experiment).rows) == ["Zero-shot", "10 %", "BM25"]


def test_stored_rankings_take_the_place_of_models(experiment, tmp_path):
    queries, _ = experiment.dataset.judged("test")
    docs = np.array([*experiment.dataset.collection.corpus.ids])
    ranked = {
        "queries": np.array([*queries.ids]), "docs": docs, "offsets": np.arange(len(queries) + 1) * len(docs),
        "doc": np.tile(np.arange(len(docs), dtype=np.int32), len(queries)),
        "score": np.tile(-np.arange(len(docs), dtype=np.float32), len(queries)),
    }  # fmt: skip
    for name in ("SBERT", "SBERT-masked", "cjeu-dense-100"):
        np.savez(tmp_path / f"{name}.npz", **ranked)
    quick = replace(experiment, slow=False, models=tmp_path)
    with Workspace(tmp_path / "work") as workspace:
        quick = replace(quick, workspace=workspace)
        assert list(all_tables()["CJEU-6"].measure(quick).rows) == ["Zero-shot", "100 %", "BM25"]
        rows = all_tables()["CJEU-4"].measure(quick).rows
        assert rows["SBERT"] == rows["SBERT, masked"]
        assert rows["SBERT"]["R@5"] == 0.25, "of the four that are asked for, the fifth document alone is among the first five"
        assert "SBERT-ft" not in rows
        examples = all_tables()["CJEU-10"].measure(quick)
        assert len(examples.rows) == 3
        assert all(row["rank by BM25"] == 1 and row["rank by SBERT"] > 5 for row in examples.rows.values())
        assert len(examples.texts) == 3
        with pytest.raises(NotFoundError, match=r"SBERT-ft was not asked; name a folder that has SBERT-ft\.npz"):
            all_tables()["CJEU-12"].measure(quick)


def test_texts_of_examples_are_printed_on_request_and_never_kept(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("LEXFUSE_DATA", raising=False)
    monkeypatch.setattr(retrievers, "SBERT", "fr-legal-dense")
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "write_page", lambda: None)
    words = ["--table", "CJEU-9", "--slow", "--write", "--data", str(folder / "data"), "--work", str(folder / "work")]
    assert command.main(words) == 0
    assert "est autonome" not in capsys.readouterr().out
    assert command.main([*words, "--text"]) == 0
    assert "est autonome" in capsys.readouterr().out
    assert "est autonome" not in (tmp_path / "CJEU-9.json").read_text("utf-8")


def test_a_broader_test_period_has_the_queries_of_that_period(experiment):
    measured = all_tables()["CJEU-14"].measure(experiment)
    assert list(measured.rows) == ["BM25", "SBERT"]
    assert "test 6 citations of 6 queries" in measured.notes[0]
