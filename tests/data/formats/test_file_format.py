"""One door for all formats."""

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.file_format import read_corpus, read_queries, write_corpus, write_queries
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, NotFoundError

SUFFIXES = [".jsonl", ".ndjson", ".jsonlines", ".json", ".csv", ".tsv", ".parquet"]
NAMES = [f"c{suffix}{packed}" for suffix in SUFFIXES for packed in ("", ".gz")] + ["C.JSONL", "v1.2.csv"]
CORPUS = Corpus.of([Document("a", text="un", headings=("I", "II")), Document("b", text="deux")])
QUERIES = Queries.of([Query("q", "x", "fr")])


@pytest.mark.parametrize("name", NAMES)
def test_every_format_by_its_name(tmp_path, name):
    write_corpus(CORPUS, tmp_path / name)
    report = ReadReport()
    assert list(read_corpus(tmp_path / name, report)) == list(CORPUS)
    assert report.kept == 2
    write_queries(QUERIES, tmp_path / name)
    assert list(read_queries(tmp_path / name)) == list(QUERIES)


def test_formats_differ(tmp_path):
    for suffix in SUFFIXES:
        write_corpus(CORPUS, tmp_path / f"c{suffix}")
    heads = {suffix: (tmp_path / f"c{suffix}").read_bytes()[:4] for suffix in SUFFIXES}
    lines = dict.fromkeys((".jsonl", ".ndjson", ".jsonlines"), b'{"_i')
    assert heads == {**lines, ".json": b'[\n{"', ".csv": b"id,t", ".tsv": b"id\tt", ".parquet": b"PAR1"}


def test_a_folder_gives_its_corpus_and_queries(tmp_path):
    folder = tmp_path / "c.v2"
    write_corpus(CORPUS, folder / "corpus.jsonl.gz")
    assert list(read_corpus(folder)) == list(CORPUS)
    with pytest.raises(NotFoundError, match=r"no queries\.jsonl"):
        read_queries(folder)
    write_queries(QUERIES, folder / "queries.jsonl")
    assert list(read_queries(folder)) == list(QUERIES)


@pytest.mark.parametrize("name", ["c.xml", "c.xlsx", "c", "c.gz", "jsonl"])
def test_an_unknown_format_lists_the_known(tmp_path, name):
    (tmp_path / name).touch()
    known = r"has no known format; use \.jsonl, \.ndjson, \.jsonlines, \.json, \.csv, \.tsv, \.parquet"
    with pytest.raises(ConfigError, match=known):
        read_corpus(tmp_path / name)
    with pytest.raises(ConfigError, match=known):
        write_corpus(CORPUS, tmp_path / name)
    with pytest.raises(ConfigError, match=known):
        write_queries(QUERIES, tmp_path / name)


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="no file or folder"):
        read_corpus(tmp_path / "c.jsonl")
    with pytest.raises(NotFoundError, match="no file or folder"):
        read_queries(tmp_path / "c.jsonl")
