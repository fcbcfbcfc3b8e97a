"""``python -m reproduce --atlas`` on a small collection: what it measures, refuses and writes."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from lexfuse.advice.findings import Power
from lexfuse.data import downloads
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import NotFoundError
from lexfuse.train.static_vectors import StaticTraining
from reproduce import __main__ as command
from reproduce.atlas import measurement, page
from reproduce.atlas.entry import AtlasEntry
from reproduce.atlas.measurement import detection_shares, needed_to_show
from reproduce.atlas.study_collection import SETTINGS, StudyCollection, find_collection, study_collections
from reproduce.datasets import DataFolders

WORDS = (
    "Revision",
    "Berufung",
    "Klage",
    "Mietvertrag",
    "Kündigung",
    "Kaufpreis",
    "Schaden",
    "Frist",
    "Urlaub",
    "Gehalt",
    "Erbe",
    "Steuer",
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder with a collection that is called legalquad, and a place for results."""
    monkeypatch.delenv("LEXFUSE_DATA", raising=False)
    monkeypatch.setattr(command, "ENTRIES", tmp_path / "atlas")
    monkeypatch.setattr(command, "write_atlas", lambda: page.write_atlas(tmp_path / "atlas.md", tmp_path / "atlas"))
    monkeypatch.setattr(measurement, "TRAINING", StaticTraining(dimension=2, min_count=1))
    write_collection(collection(), tmp_path / "data" / "legalquad")
    return tmp_path / "data"


def collection():
    documents = [
        Document(f"d{at}", text=f"Die {word} des Klägers und die {WORDS[at - 1]} sind zulässig.", language="de")
        for at, word in enumerate(WORDS)
    ]
    queries = [Query(f"q{at}", f"Ist die {word} zulässig?", "de") for at, word in enumerate(WORDS)]
    return Collection(
        Corpus.of(documents), Queries.of(queries), {"test": Qrels.of([(f"q{at}", f"d{at}", 1) for at in range(len(WORDS))])}
    )


def atlas(capsys, *words):
    status = command.main(["--atlas", *map(str, words)])
    return status, *capsys.readouterr()


def test_a_collection_is_measured_in_both_settings(data, tmp_path, capsys):
    status, out, _ = atlas(capsys, "legalquad", "--data", data, "--work", tmp_path / "work", "--write")
    assert status == 0
    assert [line.partition(":")[0] for line in out.splitlines()] == ["legalquad, zero-shot", "legalquad, tuned"]
    entries = page.kept_entries(tmp_path / "atlas")
    assert [entry.setting for entry in entries] == list(SETTINGS)
    zero, tuned = entries
    assert (zero.documents, zero.dev_questions, zero.test_questions) == (12, 6, 6)
    assert [source.name for source in zero.sources] == ["bm25", "tfidf", "static"]
    assert zero.bm25 == {"k1": 1.2, "b": 0.75} or set(zero.bm25) == {"k1", "b"}
    assert {(pair.first, pair.second) for pair in zero.pairs} == {("bm25", "tfidf"), ("bm25", "static"), ("tfidf", "static")}
    for pair in zero.pairs:
        assert pair.only_first + pair.only_second + pair.both + pair.neither == 6
    best = next(source for source in zero.sources if source.name == zero.best)
    assert zero.advised.gain == pytest.approx(zero.advised.test["nDCG@10"] - best.test["nDCG@10"], abs=1e-4)
    assert set(tuned.seconds) >= {"tune bm25", "advise"}
    written = (tmp_path / "atlas.md").read_text("utf-8")
    assert "| legalquad | Decisions of German courts, a question on each | de | 12 | 6 | 6 |" in written
    assert all((tmp_path / "atlas" / f"{name}.svg").exists() for name in ("gains", "pairs", "detection"))


def test_the_page_is_the_same_for_the_same_entries(data, tmp_path, capsys):
    atlas(capsys, "legalquad", "--data", data, "--work", tmp_path / "work", "--write")
    first = (tmp_path / "atlas.md").read_bytes(), (tmp_path / "atlas" / "pairs.svg").read_bytes()
    page.write_atlas(tmp_path / "atlas.md", tmp_path / "atlas")
    assert ((tmp_path / "atlas.md").read_bytes(), (tmp_path / "atlas" / "pairs.svg").read_bytes()) == first


def test_without_write_nothing_is_written(data, tmp_path, capsys):
    assert atlas(capsys, "legalquad", "--data", data, "--work", tmp_path / "work")[0] == 0
    assert not (tmp_path / "atlas").exists()


def test_an_unknown_collection_is_refused(data, tmp_path, capsys):
    status, out, err = atlas(capsys, "legalquad", "legalqad", "--data", data, "--work", tmp_path / "work", "--write")
    assert (status, out) == (4, "")
    assert "the atlas has no collection 'legalqad'; did you mean legalquad" in err
    assert not (tmp_path / "work").exists()


def test_a_missing_collection_is_refused_before_anything_is_measured(data, tmp_path, capsys):
    status, out, err = atlas(capsys, "legalquad", "scifact", "--data", data, "--work", tmp_path / "work", "--write")
    assert (status, out) == (4, "")
    assert "lexfuse collect scifact makes it" in err
    assert not (tmp_path / "atlas").exists()
    assert not (tmp_path / "work").exists()


def test_a_wrong_layout_is_refused(data, tmp_path, capsys):
    (data / "cjeu").mkdir()
    (data / "cjeu" / "notes.txt").write_text("nothing")
    (data / "fr-public").mkdir()
    for name, words in (("cjeu", "expected corpus.jsonl"), ("fr-public", "expected queries.jsonl and qrels/")):
        status, out, err = atlas(capsys, name, "--data", data, "--work", tmp_path / "work", "--write")
        assert (status, out) == (3, "")
        assert words in err
    assert not (tmp_path / "atlas").exists()


def test_all_collections_at_hand_are_taken_without_names(data, tmp_path, capsys):
    status, out, err = atlas(capsys, "--data", data, "--work", tmp_path / "work")
    assert status == 0
    assert len(out.splitlines()) == 2
    left_out = {line.partition(" is left out")[0] for line in err.splitlines() if "is left out" in line}
    assert left_out == set(study_collections()) - {"legalquad"}


def test_a_public_collection_is_made_where_it_is_missing(data, tmp_path, capsys, monkeypatch):
    content = json.dumps({"data": [{"paragraphs": [decision(at, word) for at, word in enumerate(WORDS)]}]}).encode()
    pinned = replace(downloads.LEGALQUAD, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(downloads, "LEGALQUAD", pinned)
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "")  # no git
    (data / "legalquad").rename(tmp_path / "gone")
    asked = ("legalquad", "--data", data, "--work", tmp_path / "work", "--collect")
    status, _, err = atlas(capsys, *asked)
    assert status == 4
    assert "legalquad was not collected" in err
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / pinned.file).write_bytes(content)
    status, out, _ = atlas(capsys, *asked)
    assert status == 0
    assert len(out.splitlines()) == 2
    assert (tmp_path / "work" / "data" / "legalquad" / "PROVENANCE.md").is_file()


def decision(at, word):
    return {
        "document_id": at,
        "context": f"Die {word} des Klägers und die {WORDS[at - 1]} sind zulässig.",
        "qas": [{"id": 100 + at, "question": f"Ist die {word} zulässig?", "answers": []}],
    }


def test_the_atlas_goes_with_no_table(data, capsys):
    assert command.main(["--atlas", "--all", "--data", str(data)]) == 2
    assert "--atlas was given with --table or --all" in capsys.readouterr().err


def test_an_entry_survives_its_file(data, tmp_path, capsys):
    atlas(capsys, "legalquad", "--data", data, "--work", tmp_path / "work", "--write")
    (entry, _) = page.kept_entries(tmp_path / "atlas")
    entry.save(tmp_path / "again")
    assert AtlasEntry.read(tmp_path / "again" / entry.file) == entry
    assert json.loads((tmp_path / "again" / entry.file).read_text("utf-8"))["collection"] == "legalquad"


def test_samples_keep_what_is_relevant(data):
    folders = DataFolders.of(data)
    whole = find_collection("legalquad").sample(folders)
    small = find_collection("legalquad").sample(folders, documents=9, questions=3)
    assert (len(whole.corpus), len(small.corpus), small.documents) == (12, 9, 12)
    assert (len(small.dev.queries), len(small.test.queries), small.questions) == (3, 3, 12)
    assert set(small.dev.queries) < set(whole.dev.queries)
    assert not set(whole.dev.queries) & set(whole.test.queries)
    relevant = {doc for qrels in (small.dev, small.test) for judged in qrels.as_dict().values() for doc in judged}
    assert relevant <= set(small.corpus.ids)


def test_a_split_that_is_not_there_is_named(data):
    wrong = replace(find_collection("legalquad"), halves="", dev=("dev",))
    with pytest.raises(NotFoundError, match="legalquad has no split 'dev'; it has test"):
        wrong.sample(DataFolders.of(data))


def test_every_collection_has_questions_to_choose_on():
    for one in study_collections().values():
        assert isinstance(one, StudyCollection)
        assert one.dev or one.halves
        assert set(one.models) <= set(SETTINGS)
    assert len({one.language for one in study_collections().values()}) >= 3
    assert sum(one.law for one in study_collections().values()) >= 8


def test_more_questions_show_a_gain_more_often():
    differences = np.random.default_rng(1).normal(0.1, 0.3, 400)
    shares = detection_shares(differences, draws=200)
    assert list(shares) == ["10", "20", "35", "50", "75", "100", "150", "200", "300", "400"]
    assert shares["10"] < shares["50"] < shares["200"]
    assert shares["400"] == 1.0
    assert detection_shares(-differences, draws=50)["400"] == 0.0


def test_questions_needed_shrink_with_the_gain():
    power = Power(100, 0.05, 0.1, 400)
    assert (needed_to_show(power, 0.05), needed_to_show(power, 0.1), needed_to_show(power, 0.2)) == (400, 100, 25)
    assert needed_to_show(power, 0.0) is None
    assert needed_to_show(None, 0.1) is None
