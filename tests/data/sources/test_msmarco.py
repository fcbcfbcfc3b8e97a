"""MS MARCO and mMARCO folders as published: tables of tabs, without a header and without quotes."""

import gzip

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.msmarco import read_msmarco
from lexfuse.data.sources.names import SourceName
from lexfuse.data.sources.registry import detect_source, read_source
from lexfuse.errors import DataError, NotFoundError

FILES = {
    "collection.tsv": '0\tThe "lease" ended.\n1\tA notice, of two months.\n2\tCosts.\n',
    "queries.train.tsv": "10\twhen does a lease end\n11\tnotice period\n12\tnever judged\n",
    "queries.dev.small.tsv": "20\tcosts\n",
    "queries.dev.tsv": "20\tcosts\n21\twho pays\n",
    "qrels.train.tsv": "10\t0\t0\t1\n11\t0\t1\t1\n",
    "qrels.dev.small.tsv": "20\t0\t2\t1\n",
    "qrels.dev.tsv": "20\t0\t2\t1\n21\t0\t2\t1\n",
}


def written(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def judged(collection):
    return {split: qrels.as_dict() for split, qrels in collection.qrels.items()}


def test_the_files_of_ms_marco(tmp_path):
    folder = written(tmp_path, FILES | {"queries.eval.small.tsv": "30\tunknown\n"})
    report = ReadReport()
    assert detect_source(folder) is SourceName.MSMARCO
    collection = read_source(SourceName.MSMARCO, folder, report)
    assert collection.corpus.text == ('The "lease" ended.', "A notice, of two months.", "Costs.")
    assert collection.corpus.ids.names == ("0", "1", "2")
    assert set(collection.corpus.language) == {""}
    assert collection.queries.ids.names == ("10", "11", "12", "20", "21")
    assert judged(collection) == {
        "train": {"10": {"0": 1}, "11": {"1": 1}},
        "dev": {"20": {"2": 1}},
        "dev-full": {"20": {"2": 1}, "21": {"2": 1}},
    }
    assert any("queries without judgements" in line for line in report.lines())


MMARCO = {
    "data/google/collections/french_collection.tsv": "0\tLe bail est fini.\n1\tUn préavis.\n",
    "data/google/queries/train/french_queries.train.tsv": "10\tfin du bail\n11\tdurée du préavis\n",
    "data/google/queries/dev/french_queries.dev.small.tsv": "20\tpréavis\n",
    "data/triples.train.ids.small.tsv": "10\t0\t1\n10\t0\t1\n11\t1\t0\n99\t1\t0\n",
    "data/qrels.dev.small.tsv": "20\t0\t1\t1\n",
    "data/qrels.dev.tsv": "20\t0\t1\t1\n21\t0\t0\t1\n",
}


def test_the_files_of_mmarco_whose_train_judgements_are_triples(tmp_path):
    report = ReadReport()
    collection = read_msmarco(written(tmp_path, MMARCO), report)
    assert set(collection.corpus.language) == {"fr"}
    assert set(collection.queries.language) == {"fr"}
    assert judged(collection) == {
        "train": {"10": {"0": 1}, "11": {"1": 1}},
        "dev": {"20": {"1": 1}},
        "dev-full": {"20": {"1": 1}},
    }
    said = "\n".join(report.lines())
    assert "1 triples of queries that the folder does not have" in said
    assert "their other passages are not kept" in said
    assert "judgements of 1 queries that the folder does not have" in said


def test_train_judgements_go_before_triples(tmp_path):
    folder = written(tmp_path, FILES | {"qidpidtriples.train.full.2.tsv": "12\t2\t0\n"})
    assert "12" not in read_msmarco(folder).qrels["train"].queries


def test_gzipped_files_are_read(tmp_path):
    folder = written(tmp_path, {name: text for name, text in FILES.items() if name != "collection.tsv"})
    (folder / "collection.tsv.gz").write_bytes(gzip.compress(FILES["collection.tsv"].encode(), mtime=0))
    assert len(read_msmarco(folder).corpus) == 3


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("collection.tsv", "0\tOne.\n1 no tab\n", "line 2: expected the id of a passage, a tab and its text"),
        ("collection.tsv", "0\tOne.\n1\tTwo.\n2\tThree.\n0\tAgain.\n", "line 4: id '0' is repeated"),
        ("queries.train.tsv", "10\t\n11\tnotice\n12\tx\n", "line 1: expected the id of a query"),
        ("qrels.train.tsv", "10\t0\t77\t1\n", "77"),
        ("notes.tsv", "a\tb\n", "notes.tsv: not a table of MS MARCO; expected collection.tsv"),
        ("german_collection.tsv", "0\tEins.\n", "two files of one part"),
    ],
)
def test_a_bad_file_is_an_error_that_names_it(tmp_path, name, text, reason):
    with pytest.raises(DataError, match=reason):
        read_msmarco(written(tmp_path, FILES | {name: text}))


@pytest.mark.parametrize(
    ("triples", "reason"),
    [("fin du bail\tLe bail est fini.\tUn préavis.\n", "triples of texts are not read"), ("10\t55\t1\n", "passage 55")],
)
def test_bad_triples(tmp_path, triples, reason):
    folder = written(tmp_path, MMARCO | {"data/triples.train.ids.small.tsv": triples})
    with pytest.raises(DataError, match=reason):
        read_msmarco(folder)
    report = ReadReport(skip_bad=True)
    assert "train" not in read_msmarco(folder, report).qrels
    assert report.skipped == 1


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"no MS MARCO collection in .*; expected collection.tsv, .*; found no table"):
        read_msmarco(tmp_path)
    with pytest.raises(DataError, match=r"has judgements, but the folder has no queries.train.tsv"):
        read_msmarco(written(tmp_path, {name: text for name, text in FILES.items() if name != "queries.train.tsv"}))
    folder = written(tmp_path / "other", {"klingon_collection.tsv": "0\tx\n"})
    with pytest.raises(DataError, match="unknown language 'klingon'"):
        read_msmarco(folder)
