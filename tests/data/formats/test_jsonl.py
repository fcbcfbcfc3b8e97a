"""JSON lines in BEIR's form."""

import gzip
from datetime import date

import orjson
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.file_format import read_corpus, read_queries, write_corpus, write_queries
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError

FULL = Document(
    "L1",
    "Article L1",
    "Ligne un.\nLigne « deux ».",
    "fr",
    DocumentKind.STATUTE,
    "Code du travail",
    "L1",
    ("Partie", "Titre"),
    "",
    date(2007, 3, 12),
    date(2008, 5, 1),
    None,
    DocumentStatus.IN_FORCE,
    ("JORF",),
    ("L2",),
    {"nota": None, "article_no": "other", "z": 1, "metadata": {"a": 1}},
)


def read(tmp_path, *records):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(record) for record in records))
    return list(read_corpus(path))


def test_the_written_line_is_beirs_with_metadata_in_canonical_order(tmp_path):
    write_corpus(Corpus.of([FULL]), tmp_path / "c.jsonl")
    assert (tmp_path / "c.jsonl").read_bytes().decode() == (
        '{"_id":"L1","title":"Article L1","text":"Ligne un.\\nLigne « deux ».","metadata":{"language":"fr","kind":"statute",'
        '"code":"Code du travail","number":"L1","headings":["Partie","Titre"],"date":"2007-03-12","valid_from":"2008-05-01",'
        '"status":"in force","identifiers":["JORF"],"citations":["L2"],"nota":null,"z":1,'
        '"extra":{"article_no":"other","metadata":{"a":1}}}}\n'
    )
    assert read_corpus(tmp_path / "c.jsonl")[0] == FULL


def test_gzip_by_name_and_the_same_bytes_every_time(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_corpus(Corpus.of([FULL]), tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert orjson.loads(gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()))["_id"] == "L1"


def test_queries_have_no_title(tmp_path):
    queries = [Query("q1", "préavis ?", "fr", date(2025, 11, 4), {"kind": "question", "n": 2, "date": "x"}), Query("q2", "")]
    write_queries(Queries.of(queries), tmp_path / "q.jsonl")
    first = orjson.loads((tmp_path / "q.jsonl").read_bytes().splitlines()[0])
    assert list(first) == ["_id", "text", "metadata"]
    assert first["metadata"] == {"language": "fr", "date": "2025-11-04", "kind": "question", "n": 2, "extra": {"date": "x"}}
    assert list(read_queries(tmp_path / "q.jsonl")) == queries


def test_other_collections_lines_are_read(tmp_path):
    assert read(
        tmp_path,
        {"id": 7, "contents": "un", "court": "CE"},
        {"_id": "b", "text": "deux", "metadata": None},
        {"_id": "c", "text": "trois", "court": "CE", "metadata": {"court": "CE", "paragraph": 3}},
    ) == [
        Document("7", text="un", court="CE", kind=DocumentKind.DECISION),
        Document("b", text="deux"),
        Document("c", text="trois", court="CE", number="3", kind=DocumentKind.PARAGRAPH),
    ]


def test_a_title_or_text_inside_the_metadata_is_not_the_documents(tmp_path):
    [document] = read(tmp_path, {"_id": "a", "title": "T", "text": "x", "metadata": {"title": "U", "_id": 5, "extra": "e"}})
    assert (document.id, document.title) == ("a", "T")
    assert document.extra == {"title": "U", "_id": 5, "extra": "e"}


def test_two_values_for_one_field_are_refused(tmp_path):
    with pytest.raises(DataError, match="line 1: field 'court' differs between the top level and the metadata"):
        read(tmp_path, {"_id": "a", "text": "x", "court": "CE", "metadata": {"court": "CJEU"}})


@pytest.mark.parametrize("metadata", [[], "x", 5, True])
def test_metadata_must_be_an_object(tmp_path, metadata):
    with pytest.raises(DataError, match="field 'metadata': expected an object, got"):
        read(tmp_path, {"_id": "a", "text": "x", "metadata": metadata})


def test_byte_order_mark_carriage_returns_and_blank_lines_do_no_harm(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"_id": "a", "text": "x"}\r\n\r\n   \n{"_id": "b", "text": "y"}')
    report = ReadReport()
    assert read_corpus(path, report).ids.names == ("a", "b")
    assert (report.kept, report.lines()) == (2, [])


def test_permuting_lines_changes_only_ordinals(tmp_path):
    records = [{"_id": str(number), "text": "x" * number} for number in range(1, 6)]
    forward, backward = read(tmp_path, *records), read(tmp_path, *reversed(records))
    assert forward == list(reversed(backward))
