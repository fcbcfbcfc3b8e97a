"""Parquet through pyarrow."""

import subprocess
import sys
from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.file_format import read_corpus, read_queries, write_corpus, write_queries
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError

FULL = Document(
    "a",
    "T",
    "x\0y\r\n",
    "fr",
    DocumentKind.STATUTE,
    "C",
    "1",
    ("I", "II"),
    "",
    date(1804, 3, 21),
    None,
    date(2029, 3, 1),
    DocumentStatus.ENDING,
    ("E",),
    ("b",),
    {"n": None, "text": [1]},
)


def read(tmp_path, columns, report=None):
    pq.write_table(pa.table(columns), tmp_path / "c.parquet")
    return read_corpus(tmp_path / "c.parquet", report)


def test_columns_have_their_types(tmp_path):
    write_corpus(Corpus.of([FULL, Document("b")]), tmp_path / "c.parquet")
    schema = pq.read_schema(tmp_path / "c.parquet")
    assert schema.field("text").type == pa.string()
    assert schema.field("headings").type == pa.list_(pa.string())
    assert schema.field("valid_to").type == pa.date32()
    assert schema.field("extra").type == pa.string()
    assert list(read_corpus(tmp_path / "c.parquet")) == [FULL, Document("b")]


def test_the_same_corpus_gives_the_same_bytes(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        write_corpus(Corpus.of([FULL] + [Document(f"d{n}", text="x" * n) for n in range(5000)]), tmp_path / name)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 2
    assert len(read_corpus(tmp_path / "a.parquet")) == 5001


def test_a_gzipped_file_is_read(tmp_path):
    write_corpus(Corpus.of([FULL]), tmp_path / "c.parquet.gz")
    assert (tmp_path / "c.parquet.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert read_corpus(tmp_path / "c.parquet.gz")[0] == FULL


def test_queries_round_trip(tmp_path):
    queries = [Query("q1", "x", "fr", date(2020, 1, 1), {"n": 1, "kind": "question"}), Query("q2", "")]
    write_queries(Queries.of(queries), tmp_path / "q.parquet")
    assert list(read_queries(tmp_path / "q.parquet")) == queries


def test_kindred_types_are_read(tmp_path):
    corpus = read(
        tmp_path,
        {
            "id": pa.array([1, 2], pa.int32()),
            "text": pa.array(["x", "y"], pa.large_string()),
            "code": pa.array(["C", "C"]).dictionary_encode(),
            "paragraph": pa.array([5, None], pa.uint8()),
            "headings": pa.array([["I"], None], pa.large_list(pa.string())),
            "date": pa.array([datetime(2020, 1, 2, 3, 4), None], pa.timestamp("ms")),
            "date_debut": pa.array(["02/01/2020", None]),
            "ecli": pa.array(["E", None]),
            "court": pa.nulls(2),
        },
    )
    assert corpus[0] == Document(
        "1", text="x", kind=DocumentKind.PARAGRAPH, code="C", number="5", headings=("I",),
        date=date(2020, 1, 2), valid_from=date(2020, 1, 2), identifiers=("E",),
    )  # fmt: skip
    assert corpus[1] == Document("2", text="y", kind=DocumentKind.STATUTE, code="C")


def test_unknown_columns_go_to_extra_as_json_has_them(tmp_path):
    corpus = read(
        tmp_path,
        {
            "id": ["a", "b"],
            "text": ["x", "y"],
            "n": pa.array([1, None]),
            "score": pa.array([0.5, float("nan")], from_pandas=False),
            "when": [date(2020, 1, 2), None],
            "nested": [{"k": [1, 2]}, None],
            "extra": [{"m": 1}, None],
        },
    )
    assert [document.extra for document in corpus] == [
        {"n": 1, "score": 0.5, "when": "2020-01-02", "nested": {"k": [1, 2]}, "m": 1},
        {"score": None},
    ]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"text": pa.array([1.5])}, "column 'text' has the type double, expected string"),
        ({"text": pa.array([["x"]])}, "column 'text' has the type list<.*string>, expected string"),
        ({"id": pa.array([1.5])}, "column 'id' has the type double, expected string or integer"),
        ({"id": pa.array([True])}, "column 'id' has the type bool, expected string or integer"),
        ({"headings": pa.array([1.5])}, "column 'headings' has the type double, expected list<string>"),
        ({"headings": pa.array([[1.5]])}, "column 'headings' has the type list<.*double>, expected list<string>"),
        ({"date": pa.array([5])}, "column 'date' has the type int64, expected date32, timestamp or string"),
        ({"court": pa.array([b"x"])}, "column 'court' has the type binary, expected string"),
        ({"pdf": pa.array([b"x"])}, "column 'pdf' has the type binary, expected what JSON can hold"),
        ({"deep": pa.array([{"a": [b"x"]}])}, "column 'deep' has the type struct.*binary.*, expected what JSON can hold"),
    ],
)
def test_other_types_are_named_with_those_expected(tmp_path, column, message):
    with pytest.raises(DataError, match=rf"c\.parquet: {message}"):
        read(tmp_path, {"id": ["a"], "text": ["x"]} | column)


def test_missing_columns_are_listed(tmp_path):
    with pytest.raises(DataError, match="no column 'id', 'text': found 'nom', 'texte'; expected 'id' and 'text'"):
        read(tmp_path, {"nom": ["a"], "texte": ["x"]})


def test_a_null_id_costs_one_row(tmp_path):
    columns = {"id": ["a", None], "text": ["x", None]}
    with pytest.raises(DataError, match=r"c\.parquet, line 2: no id"):
        read(tmp_path, columns)
    report = ReadReport(skip_bad=True)
    assert len(read(tmp_path, columns, report)) == report.skipped == report.kept == 1


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,text\n1,2\n", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_what_is_no_parquet_is_said(tmp_path, content):
    (tmp_path / "c.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"c\.parquet: cannot be read as Parquet"):
        read_corpus(tmp_path / "c.parquet")


def test_damaged_pages_are_said(tmp_path):
    write_corpus(Corpus.of([Document(f"d{n}", text=f"{n} " * 50) for n in range(200)]), tmp_path / "c.parquet")
    content = bytearray((tmp_path / "c.parquet").read_bytes())
    content[4:600] = bytes(596)
    (tmp_path / "c.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"c\.parquet: cannot be read as Parquet"):
        read_corpus(tmp_path / "c.parquet")


def test_text_that_is_not_utf8_is_said(tmp_path):
    text = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"], pa.binary()).buffers())
    with pytest.raises(DataError, match=r"cannot be read as Parquet: .*utf-8"):
        read(tmp_path, {"id": ["a"], "text": text})


def test_pyarrow_is_loaded_only_on_use():
    code = "import sys, lexfuse.data, lexfuse.data.formats.parquet; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
