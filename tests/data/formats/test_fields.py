"""The one mapping between documents or queries and flat records."""

from datetime import date

import pytest

from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.fields import document_of, document_record, query_of, query_record
from lexfuse.data.queries import Query
from lexfuse.errors import DataError


def document(**record):
    return document_of({"id": "a", "text": "x"} | record)


@pytest.mark.parametrize(
    ("record", "field", "value"),
    [
        ({"article_no": "L1"}, "number", "L1"),
        ({"article_num": "L1"}, "number", "L1"),
        ({"num": 12}, "number", "12"),
        ({"paragraph": 64}, "number", "64"),
        ({"date_debut": "2008-05-01"}, "valid_from", date(2008, 5, 1)),
        ({"date_fin": "01/03/2029"}, "valid_to", date(2029, 3, 1)),
        ({"date_fin": "2999-01-01"}, "valid_to", None),
        ({"valid_to": "22/02/2222"}, "valid_to", None),
        ({"lang": "fr"}, "language", "fr"),
        ({"status": "in force"}, "status", DocumentStatus.IN_FORCE),
        ({"etat": "VIGUEUR"}, "status", DocumentStatus.IN_FORCE),
        ({"etat": "ABROGE_DIFF"}, "status", DocumentStatus.ENDING),
        ({"etat": "VIGUEUR_DIFF"}, "status", DocumentStatus.DEFERRED),
        ({"etat": "ABROGE"}, "status", DocumentStatus.REPEALED),
        ({"ecli": "ECLI:EU:C:2017:1"}, "identifiers", ("ECLI:EU:C:2017:1",)),
        (
            {"case_number": 17, "cases": ["C-1/17", "C-2/17"], "celex": "62017CJ0001", "ecli": "E"},
            "identifiers",
            ("E", "62017CJ0001", "C-1/17", "C-2/17", "17"),
        ),
        ({"ecli": "E", "celex": None, "cases": ["E"]}, "identifiers", ("E",)),
        ({"headings": []}, "headings", ()),
        ({"headings": "Titre I"}, "headings", ("Titre I",)),
        ({"kind": "Decision"}, "kind", DocumentKind.DECISION),
    ],
)
def test_other_names_and_words_are_understood_and_nothing_is_left(record, field, value):
    assert getattr(document(**record), field) == value
    assert document(**record).extra == {}


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({}, DocumentKind.OTHER),
        ({"court": "CJEU"}, DocumentKind.DECISION),
        ({"code": "Code civil"}, DocumentKind.STATUTE),
        ({"article_no": "5", "court": "CJEU"}, DocumentKind.STATUTE),
        ({"paragraph": 5, "court": "CJEU"}, DocumentKind.PARAGRAPH),
        ({"paragraph": 5, "kind": "other"}, DocumentKind.OTHER),
        ({"article_no": "5", "paragraph": 5}, DocumentKind.STATUTE),
    ],
)
def test_a_kind_that_is_not_given_follows_from_the_rest(record, kind):
    assert document(**record).kind is kind


@pytest.mark.parametrize(
    ("record", "field", "value", "extra"),
    [
        ({"number": "L1", "article_no": "L2"}, "number", "L1", {"article_no": "L2"}),
        ({"number": "L1", "article_no": "L1"}, "number", "L1", {}),
        ({"number": "", "article_no": "L2"}, "number", "L2", {}),
        ({"article_no": "L2", "num": "7"}, "number", "L2", {"num": "7"}),
        ({"valid_from": "2020-01-01", "date_debut": "2019-01-01"}, "valid_from", date(2020, 1, 1), {"date_debut": "2019-01-01"}),
        ({"valid_from": "2020-01-01", "date_debut": "01/01/2020"}, "valid_from", date(2020, 1, 1), {}),
        ({"identifiers": ["E"], "ecli": "F"}, "identifiers", ("E",), {"ecli": "F"}),
        ({"identifiers": ["E", "F"], "ecli": "F"}, "identifiers", ("E", "F"), {}),
        ({"identifiers": [], "ecli": "F"}, "identifiers", ("F",), {}),
        ({"status": "repealed", "etat": "VIGUEUR"}, "status", DocumentStatus.REPEALED, {"etat": "VIGUEUR"}),
        ({"etat": "INCONNU"}, "status", DocumentStatus.UNKNOWN, {"etat": "INCONNU"}),
        ({"status": "draft", "etat": "VIGUEUR"}, "status", DocumentStatus.IN_FORCE, {"status": "draft"}),
        ({"etat": "MODIFIE"}, "status", DocumentStatus.REPEALED, {"etat": "MODIFIE"}),
        ({"kind": "arrêté", "court": "CE"}, "kind", DocumentKind.DECISION, {"kind": "arrêté"}),
        ({"_id": "b"}, "id", "b", {"id": "a"}),
        ({"contents": "y"}, "text", "x", {"contents": "y"}),
        ({"nota": None, "nested": {"a": [1]}}, "number", "", {"nota": None, "nested": {"a": [1]}}),
        ({"extra": {"article_no": "L2"}}, "number", "", {"article_no": "L2"}),
        ({"extra": "as text"}, "number", "", {"extra": "as text"}),
        ({"extra": None}, "number", "", {}),
    ],
)
def test_what_differs_or_is_unknown_stays_in_extra(record, field, value, extra):
    read = document(**record)
    assert getattr(read, field) == value
    assert read.extra == extra
    assert document_of(document_record(read)) == read


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"title": ["a"]}, r"field 'title': expected text, got list \['a'\]"),
        ({"text": 5}, r"field 'text': expected text, got int 5"),
        ({"code": True}, r"field 'code': expected text, got bool True"),
        ({"id": 1.5}, r"field 'id': expected text, got float 1.5"),
        ({"id": True}, r"field 'id': expected text, got bool True"),
        ({"article_no": {"a": 1}}, r"field 'article_no': expected text, got dict \{'a': 1\}"),
        ({"headings": {"a": 1}}, r"field 'headings': expected a list of texts, got dict"),
        ({"headings": [["a"]]}, r"field 'headings': expected text, got list \['a'\]"),
        ({"citations": ["a", None]}, r"field 'citations': expected a list of texts, got null inside list"),
        ({"date": "2023-02-30"}, r"field 'date': '2023-02-30' is not a date \(.*\); write it as 2023-05-04"),
        ({"date_fin": ["x"]}, r"field 'date_fin': \['x'\] is not a date"),
        ({"etat": 3}, r"field 'etat': expected text, got int 3"),
        ({"id": ""}, r"no id: expected a field '_id' or 'id', got the fields 'id', 'text'"),
        ({"source": "a", "extra": {"source": "b"}}, r"field 'source' has two different values, str 'a' and str 'b'"),
    ],
)
def test_values_of_the_wrong_type_name_field_got_and_expected(record, message):
    with pytest.raises(DataError, match=message):
        document(**record)


def test_a_record_without_text_shows_what_it_has():
    with pytest.raises(DataError, match="no text: expected a field 'text', got the fields 'id', 'body'"):
        document_of({"id": "a", "body": "x"})
    with pytest.raises(DataError, match="no text"):
        query_of({"id": "a"})
    with pytest.raises(DataError, match=r"no id: .* got no fields"):
        document_of({})


def test_messages_do_not_print_whole_judgments():
    with pytest.raises(DataError) as caught:
        document(title=["long"] * 1000)
    assert len(str(caught.value)) < 120


def test_a_query_keeps_what_it_does_not_know():
    query = query_of({"id": "q", "text": "x", "lang": "fr", "kind": "question", "code": 5, "extra": {"language": "x"}})
    assert query == Query("q", "x", "fr", None, {"kind": "question", "code": 5, "language": "x"})
    assert query_of(query_record(query)) == query


def test_a_kind_that_would_be_inferred_otherwise_is_written():
    for record in (Document("a", court="CE"), Document("a", court="CE", kind=DocumentKind.DECISION), Document("a", number="1")):
        assert document_of(document_record(record)) == record
    assert "kind" not in document_record(Document("a"))
