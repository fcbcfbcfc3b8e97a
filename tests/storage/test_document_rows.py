"""Documents as rows: nothing is lost on the way, and what cannot be stored is refused with the document named."""

import datetime
from types import MappingProxyType

import pytest

from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.errors import DataError
from lexfuse.storage.document_rows import checksum_of, document_of, row_of
from lexfuse.storage.history.version_rows import rows_of

FULL = Document(
    "L1",
    title="Titre",
    text="texte\x00 avec NUL",
    language="fr",
    kind=DocumentKind.STATUTE,
    code="Code du travail",
    number="L1",
    headings=("Livre I", "Titre > II"),
    court="Cour",
    date=datetime.date(1804, 3, 21),
    valid_from=datetime.date(1, 1, 1),
    valid_to=datetime.date(2999, 1, 1),
    status=DocumentStatus.IN_FORCE,
    identifiers=("ECLI:1",),
    citations=("L2", "L3"),
    extra={"source": {"deep": [1, None, 2.5]}},
)


@pytest.mark.parametrize("document", [FULL, Document("a"), Document("'; DROP TABLE documents; --", text="\x00")])
def test_round_trip(document):
    assert document_of(row_of(document)) == document


def test_any_mapping_is_stored():
    assert document_of(row_of(Document("a", extra=MappingProxyType({"b": 1})))).extra == {"b": 1}


def test_of_a_time_only_the_day_is_kept():
    assert document_of(row_of(Document("a", date=datetime.datetime(2020, 1, 2, 3)))).date == datetime.date(2020, 1, 2)


def test_rows_come_by_id():
    assert [document.id for document, _ in rows_of([Document("b"), Document("é"), Document("B")]).current] == ["B", "b", "é"]


def test_an_id_that_comes_twice_is_named():
    with pytest.raises(DataError, match="'b' is repeated"):
        rows_of([Document("b"), Document("a"), Document("b")])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"id": ""}, "at least one character, got ''"),
        ({"id": 7}, "got 7"),
        ({"id": "\udc80"}, r"'id' has a lone surrogate \(\\udc80"),
        ({"text": "ab\ud800"}, r"document 'a': field 'text' has a lone surrogate \(\\ud800 at position 2\)"),
        ({"headings": ("\ud800",)}, "document 'a' cannot be written as JSON"),
        ({"extra": {"x": "\ud800"}}, "document 'a' cannot be written as JSON"),
        ({"extra": {"x": float("nan")}}, "document 'a': nan is not a JSON number"),
        ({"extra": {"x": object()}}, "document 'a' cannot be written as JSON"),
        ({"extra": ["x"]}, "'extra' must map names to values"),
        ({"title": None}, "field 'title' must be text, got None"),
        ({"title": 7}, "field 'title' must be text, got 7"),
        ({"text": b"raw"}, "field 'text' must be text"),
        ({"text": None}, "field 'text' must be text, got None"),
        ({"date": "2020-01-01"}, "field 'date' must be a date, got '2020-01-01'"),
        ({"headings": "Livre I"}, "field 'headings' must be a list of texts, got 'Livre I'"),
        ({"citations": (1,)}, "field 'citations' must be a list of texts"),
        ({"kind": "law"}, "kind must be one of 'statute'.*got 'law'"),
    ],
)
def test_what_cannot_be_stored_is_refused(fields, said):
    with pytest.raises(DataError, match=said):
        row_of(Document(**({"id": "a"} | fields)))


def test_a_damaged_row_is_named():
    for at, value in ((3, "law"), (8, "yesterday"), (11, "[1"), (14, "{")):
        row = [*row_of(FULL)]
        row[at] = value
        with pytest.raises(DataError, match="document 'L1' is damaged in the catalog"):
            document_of(row)


def test_the_check_sum_sees_every_field():
    row = row_of(FULL)
    sums = {checksum_of([*row[:at], "changed", *row[at + 1 :]]) for at in range(len(row))}
    assert len(sums | {checksum_of(row)}) == len(row) + 1
