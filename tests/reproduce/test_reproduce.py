"""``python -m reproduce`` on tiny data: what it lists, measures, refuses and writes."""

import json

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.train.static_vectors import StaticTraining
from reproduce import __main__ as command
from reproduce import page
from reproduce.bsard import table_2
from reproduce.paper_table import all_tables

ARTICLES = {"a": "le préavis de licenciement", "b": "les congés payés", "c": "la durée du travail"}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder of collections with one that stands in for BSARD, and a place for results."""
    monkeypatch.delenv("LEXFUSE_DATA", raising=False)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(command, "write_page", lambda: page.write_page(tmp_path / "results.md", tmp_path / "results"))
    write_collection(collection("Code du travail"), tmp_path / "data" / "fr-labour")
    return tmp_path / "data"


def collection(code, category="kind"):
    documents = [Document(id, text=text, language="fr", code=code) for id, text in ARTICLES.items()]
    queries = [
        Query("q1", "quel préavis ?", "fr", extra={category: "question"}),
        Query("q2", "congés", "fr", extra={category: "topic"}),
    ]
    qrels = Qrels.of([("q1", "a", 1), ("q2", "b", 1), ("q2", "c", 1)])
    return Collection(Corpus.of(documents), Queries.of(queries), {"test": qrels})


def reproduce(capsys, *words):
    status = command.main([str(word) for word in words])
    return status, *capsys.readouterr()


def test_without_options_it_lists_every_table(capsys):
    status, out, _ = reproduce(capsys)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:] if line][:-1] == list(all_tables())


def test_a_stand_in_is_called_another_collection(data, tmp_path, capsys):
    status, out, _ = reproduce(capsys, "--table", "bsard-3", "--data", data, "--work", tmp_path / "work")
    assert status == 0
    assert "ANOTHER COLLECTION than the paper's bsard" in out
    total = next(line.split() for line in out.splitlines() if line.startswith("Total") and "articles" in line)
    assert total == ["Total", "articles", "22,633", "3", "-22,630"]


def test_the_papers_own_data_is_taken_where_it_is_there(data, tmp_path, capsys):
    write_collection(collection("Code civil", "category"), data / "bsard")
    _, out, _ = reproduce(capsys, "--table", "BSARD-1", "--data", data, "--work", tmp_path / "work")
    assert "the paper's own collection" in out
    assert "ANOTHER" not in out
    assert any(line.split()[:1] == ["Family"] for line in out.splitlines()), "the paper's rows are shown, measured or not"


def test_authors_files_are_read(data, tmp_path, capsys):
    folder = data / "bsard"
    folder.mkdir()
    (folder / "articles_fr.csv").write_text("id,article,code,article_no\n1,Texte.,Code civil,5\n2,Autre.,Code civil,6\n", "utf-8")
    (folder / "questions_fr_test.csv").write_text('id,question,category,article_ids\nq,Qui ?,Family,"1"\n', "utf-8")
    _, out, _ = reproduce(capsys, "--table", "BSARD-1", "--data", data, "--work", tmp_path / "work")
    family = next(line.split() for line in out.splitlines() if line.startswith("Family"))
    assert family[-5:] == ["30.6", "100.00", "+69.4", "not", "explained"]


@pytest.mark.parametrize("name", ["BRUCH-99", "bruch", "", "BSARD-1;"])
def test_an_unknown_table_is_refused(data, tmp_path, capsys, name):
    status, out, err = reproduce(capsys, "--table", name, "--data", data, "--write")
    assert (status, out) == (4, "")
    assert "no table or figure" in err
    assert not (tmp_path / "results").exists()


def test_a_missing_collection_is_refused_before_anything_is_measured(data, tmp_path, capsys):
    asked = ["--table", "BSARD-1", "--table", "CJEU-1", "--data", data, "--work", tmp_path / "work", "--write"]
    status, out, err = reproduce(capsys, *asked)
    assert (status, out) == (4, "")
    assert "'cjeu-paragraph-retrieval' or 'cjeu'" in err
    assert not (tmp_path / "results").exists()
    assert not (tmp_path / "work").exists()


def test_a_wrong_layout_is_refused(data, tmp_path, capsys):
    (data / "bsard").mkdir()
    (data / "bsard" / "notes.txt").write_text("nothing")
    status, out, err = reproduce(capsys, "--table", "BSARD-1", "--data", data, "--write")
    assert (status, out) == (3, "")
    assert "expected corpus.jsonl" in err
    assert "found notes.txt" in err
    assert not (tmp_path / "results").exists()


def test_a_data_folder_that_does_not_exist_is_refused(data, capsys):
    status, _, err = reproduce(capsys, "--table", "BSARD-1", "--data", data / "nowhere")
    assert status == 4
    assert "nowhere" in err


def test_one_table_or_all_but_not_both(data, capsys):
    assert reproduce(capsys, "--table", "BSARD-1", "--all", "--data", data)[0] == 2


def test_all_without_any_collection_is_an_error(data, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    status, _, err = reproduce(capsys, "--all", "--data", tmp_path / "empty", "--write")
    assert status == 4
    assert "BRUCH-1 is left out" in err
    assert not (tmp_path / "results").exists()


def test_a_table_that_a_collection_has_no_data_for_is_left_out_of_all(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(table_2, "TRAINING", StaticTraining(dimension=2, min_count=1))
    write_collection(collection("Code du travail", "other"), data / "fr-labour", replace=True)
    asked = ["--data", data, "--work", tmp_path / "work", "--write"]
    status, _, err = reproduce(capsys, "--all", *asked)
    assert status == 0
    assert "BSARD-1 is left out: " in err
    assert "no question has a field category or kind" in err
    assert {"BSARD-2", "BSARD-3", "BSARD-FIG2"} <= {path.stem for path in (tmp_path / "results").glob("*.json")}
    assert not (tmp_path / "results" / "BSARD-1.json").exists()
    assert reproduce(capsys, "--table", "BSARD-1", *asked)[0] == 3


def test_a_stored_result_with_more_figures_is_not_lost(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(table_2, "TRAINING", StaticTraining(dimension=2, min_count=1))
    asked = ["--data", data, "--work", tmp_path / "work", "--write"]
    reproduce(capsys, "--all", *asked)
    path = tmp_path / "results" / "BSARD-2.json"
    with_model = json.loads(path.read_text("utf-8"))
    row = with_model["datasets"][0]["cells"][0] | {"row": "trained by someone", "ours": "99"}
    with_model["datasets"][0]["cells"].append(row)
    path.write_text(json.dumps(with_model), "utf-8")
    status, _, err = reproduce(capsys, "--all", *asked)
    assert status == 0
    assert "BSARD-2: the stored result is kept, because 1 of its figures" in err
    assert "BSARD-3: the stored" not in err
    assert json.loads(path.read_text("utf-8")) == with_model
    reproduce(capsys, "--table", "BSARD-2", *asked)
    assert "trained by someone" not in path.read_text("utf-8")


def test_results_are_kept_and_the_page_shows_them(data, tmp_path, capsys):
    reproduce(capsys, "--table", "BSARD-FIG2", "--data", data, "--work", tmp_path / "work", "--write")
    kept = json.loads((tmp_path / "results" / "BSARD-FIG2.json").read_text("utf-8"))
    assert kept["datasets"][0]["own"] is False
    assert {"date", "commit", "machine"} <= set(kept["circumstances"])
    assert (tmp_path / "results" / "BSARD-FIG2.svg").read_text("utf-8").startswith("<?xml")
    written = (tmp_path / "results.md").read_text("utf-8")
    assert "![Words of questions, words of articles, relevant articles of a question](results/BSARD-FIG2.svg)" in written
    assert "**another collection**" in written
    assert "| questions | median words | 83 | 2 | -81 |" in written


def test_the_same_data_gives_the_same_drawing(data, tmp_path, capsys):
    drawn = []
    for _ in range(2):
        reproduce(capsys, "--table", "BSARD-FIG2", "--data", data, "--work", tmp_path / "work", "--write")
        drawn.append((tmp_path / "results" / "BSARD-FIG2.svg").read_bytes())
    assert drawn[0] == drawn[1]


def test_systems_of_bsard_are_measured(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(table_2, "TRAINING", StaticTraining(dimension=2, min_count=1))
    status, out, _ = reproduce(capsys, "--table", "BSARD-2", "--data", data, "--work", tmp_path / "work")
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    assert [row[-2] for row in rows if row[:1] == ["BM25"] and "R@100" in row] == [
        "75.00"
    ]  # one of the two that "congés" should find shares no word with it
    assert any(row[:1] == ["word2vec"] for row in rows)
    assert any("needs siamese.npz" in line for line in out.splitlines() if line.startswith("siamese"))


def test_bsard_takes_word_vectors_and_rankings_from_the_folder_of_models(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(table_2, "TRAINING", StaticTraining(dimension=2, min_count=1))
    (tmp_path / "word2vec.bin").write_text("3 2\npréavis 1 0\ncongés 0 1\ntravail 0 1\n", "utf-8")
    np.savez(
        tmp_path / "siamese.npz", queries=np.array(["q1", "q2"]), docs=np.array(["a", "b", "c"]), offsets=np.array([0, 1, 3]),
        doc=np.array([1, 1, 2], dtype=np.int32), score=np.array([1, 2, 1], dtype=np.float32), milliseconds=np.array(7.5),
    )  # fmt: skip
    words = ["--table", "BSARD-2", "--data", data, "--work", tmp_path / "work", "--models", tmp_path]
    status, out, _ = reproduce(capsys, *words)
    assert status == 0
    ours = {" ".join(line.split()[:-2]): line.split()[-2] for line in out.splitlines() if line.split()[1:]}
    assert ours["siamese, trained latency, ms 28"] == "7.50"
    assert ours["siamese, trained R@100 71.63"] == "50.00", "it answers one of the two questions, and completely"
    assert ours["word2vec MRR@100 21.49"] == "100.00"
    assert "PPMI and SVD R@100 –" in ours
