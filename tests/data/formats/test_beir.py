"""Collections as BEIR folders."""

import gzip
import os
from pathlib import Path

import orjson
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.dates import parse_date
from lexfuse.data.document import Document, DocumentStatus
from lexfuse.data.files import lines
from lexfuse.data.formats import beir
from lexfuse.data.formats.beir import Collection, read_collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, NotFoundError, StorageError

CORPUS = Corpus.of([Document("d1", "T", "un"), Document("d2", text="deux")])
QUERIES = Queries.of([Query("q1", "a"), Query("q2", "b")])
COLLECTION = Collection(CORPUS, QUERIES, {"test": Qrels.of([("q2", "d2", 1), ("q2", "d1", 2)]), "dev": Qrels.of([])})


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def content(folder):
    return {name: (folder / name).read_bytes() for name in files(folder)}


@pytest.mark.parametrize("gzipped", [True, False])
def test_a_collection_comes_back_as_it_went_in(tmp_path, gzipped):
    write_collection(COLLECTION, tmp_path / "c", gzipped=gzipped)
    suffix = ".gz" if gzipped else ""
    assert files(tmp_path / "c") == [f"corpus.jsonl{suffix}", "qrels/dev.tsv", "qrels/test.tsv", f"queries.jsonl{suffix}"]
    report = ReadReport()
    read = read_collection(tmp_path / "c", report)
    assert list(read.corpus) == list(CORPUS)
    assert list(read.queries) == list(QUERIES)
    assert {split: qrels.as_dict() for split, qrels in read.qrels.items()} == {"dev": {}, "test": {"q2": {"d1": 2, "d2": 1}}}
    assert read.qrels["test"].docs is read.corpus.ids
    assert report.kept == 6
    write_collection(read, tmp_path / "again", gzipped=gzipped)
    assert content(tmp_path / "again") == content(tmp_path / "c")


def test_a_corpus_alone_is_a_collection(tmp_path):
    write_collection(Collection(CORPUS), tmp_path / "c")
    read = read_collection(tmp_path / "c")
    assert (read.queries, dict(read.qrels)) == (None, {})


def test_gzipped_judgements_are_read(tmp_path):
    write_collection(Collection(CORPUS, QUERIES), tmp_path / "c")
    (tmp_path / "c" / "qrels").mkdir()
    (tmp_path / "c" / "qrels" / "test.tsv.gz").write_bytes(gzip.compress(b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", mtime=0))
    assert read_collection(tmp_path / "c").qrels["test"].as_dict() == {"q1": {"d1": 1}}


def test_unknown_ids_in_judgements_have_file_line_and_id(tmp_path):
    write_collection(COLLECTION, tmp_path / "c")
    (tmp_path / "c" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq7\td1\t1\nq1\td8\t1\n")
    with pytest.raises(DataError, match=r"test\.tsv, line 3: query 'q7' is not among the queries"):
        read_collection(tmp_path / "c")
    report = ReadReport(skip_bad=True)
    assert read_collection(tmp_path / "c", report).qrels["test"].as_dict() == {"q1": {"d1": 1}}
    assert report.skipped == 2
    assert "document 'd8' is not in the corpus" in report.lines()[1]


def test_judgements_without_queries_are_checked_against_the_corpus(tmp_path):
    write_collection(COLLECTION, tmp_path / "c")
    (tmp_path / "c" / "queries.jsonl.gz").unlink()
    assert read_collection(tmp_path / "c").qrels["test"].as_dict() == {"q2": {"d1": 2, "d2": 1}}
    (tmp_path / "c" / "qrels" / "test.tsv").write_text("q1\td8\t1\n")
    with pytest.raises(DataError, match="line 1: document 'd8'"):
        read_collection(tmp_path / "c")


def test_what_is_missing_or_ambiguous_is_said(tmp_path):
    with pytest.raises(NotFoundError, match="no file or folder"):
        read_collection(tmp_path / "nowhere")
    with pytest.raises(NotFoundError, match=r"no corpus\.jsonl or corpus\.jsonl\.gz in .*; found nothing"):
        read_collection(tmp_path)
    (tmp_path / "notes.txt").touch()
    with pytest.raises(NotFoundError, match=r"found notes\.txt"):
        read_collection(tmp_path)
    with pytest.raises(DataError, match="is a file; expected a folder"):
        read_collection(tmp_path / "notes.txt")
    (tmp_path / "corpus.jsonl").touch()
    (tmp_path / "corpus.jsonl.gz").touch()
    with pytest.raises(DataError, match=r"has both corpus\.jsonl and corpus\.jsonl\.gz"):
        read_collection(tmp_path)


def test_what_could_not_be_read_again_is_not_written(tmp_path):
    with pytest.raises(DataError, match="split 'test' judges documents that are not in the corpus: 'd7'"):
        write_collection(Collection(CORPUS, QUERIES, {"test": Qrels.of([("q1", "d7", 1)])}), tmp_path / "c")
    with pytest.raises(DataError, match="split 'test' judges queries that are not in the collection: 'q7'"):
        write_collection(Collection(CORPUS, QUERIES, {"test": Qrels.of([("q7", "d1", 1)])}), tmp_path / "c")
    for split in ("../test", "", ".", "a/b"):
        with pytest.raises(ConfigError, match="cannot be a file name"):
            write_collection(Collection(CORPUS, QUERIES, {split: Qrels.of([])}), tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_an_older_collection_is_replaced_only_when_told(tmp_path):
    write_collection(COLLECTION, tmp_path / "c")
    before = content(tmp_path / "c")
    with pytest.raises(StorageError, match="already exists"):
        write_collection(Collection(CORPUS), tmp_path / "c")
    assert content(tmp_path / "c") == before
    write_collection(Collection(CORPUS), tmp_path / "c", replace=True)
    assert files(tmp_path / "c") == ["corpus.jsonl.gz"]


def test_a_folder_of_other_files_is_never_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StorageError, match=r"has other files but no corpus\.jsonl"):
        write_collection(COLLECTION, tmp_path, replace=True)
    assert files(tmp_path) == ["thesis.tex"]


@pytest.mark.parametrize("step", ["write_qrels", "write_queries", "write_corpus"])
def test_an_interruption_anywhere_leaves_the_old_collection(tmp_path, monkeypatch, step):
    write_collection(COLLECTION, tmp_path / "c")
    before = content(tmp_path / "c")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"lexfuse.data.formats.beir.{step}", interrupt)
    with pytest.raises(KeyboardInterrupt):
        beir.write_collection(Collection(CORPUS.select([0]), QUERIES, {"x": Qrels.of([])}), tmp_path / "c", replace=True)
    assert content(tmp_path / "c") == before
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_collection_is_a_folder_with_a_corpus(tmp_path):
    assert not beir.is_collection(tmp_path / "nowhere")
    assert not beir.is_collection(tmp_path)
    write_collection(COLLECTION, tmp_path / "c")
    assert beir.is_collection(tmp_path / "c")
    assert not beir.is_collection(tmp_path / "c" / "corpus.jsonl.gz")


COUNTS = {
    "cjeu": (39598, 1054, {"dev": 192, "test": 705, "train": 593}),
    "fr-labour": (29104, 602, {"dev": 1174, "test": 905, "train": 2190}),
    "irled2017": (2000, 200, {"all": 1000, "dev": 200, "test": 300, "train": 500}),
    "scifact": (5183, 1109, {"dev": 0, "test": 339, "train": 919}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_real_collections_are_read_without_loss(name):
    if "LEXFUSE_DATA" not in os.environ:
        pytest.skip("LEXFUSE_DATA names no folder of collections")
    folder = Path(os.environ["LEXFUSE_DATA"], name)
    if not folder.exists():
        pytest.skip(f"LEXFUSE_DATA holds no {name}")
    report = ReadReport()
    collection = read_collection(folder, report)
    counts = len(collection.corpus), len(collection.queries), {split: len(qrels) for split, qrels in collection.qrels.items()}
    assert counts == COUNTS[name]
    assert report.skipped == 0
    for (_, line), document in zip(lines(folder / "corpus.jsonl.gz"), collection.corpus, strict=True):
        raw = orjson.loads(line)
        assert (raw["_id"], raw["title"], raw["text"]) == (document.id, document.title, document.text)
        for key, value in raw["metadata"].items():
            assert key in document.extra or holds(document, value) or is_unknown_future(key, value), (document.id, key)


def is_unknown_future(key, value):
    return key == "date_fin" and parse_date(value) is None


def holds(document, value):
    """Whether a value of the source is found again in some field."""
    states = {"VIGUEUR": DocumentStatus.IN_FORCE, "ABROGE_DIFF": DocumentStatus.ENDING}
    days = {str(day) for day in (document.date, document.valid_from, document.valid_to)}
    words = {document.code, document.number, document.court, *document.identifiers} | days
    if isinstance(value, list):
        return tuple(value) == document.headings or set(value) <= words
    return value is None or str(value) in words or states.get(value) is document.status
