"""Bare numbers and declared identifiers."""

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.text.citation.citation import Citation, CitationSystem
from lexfuse.text.citation.literal import LiteralIdentifiers, bare_number_of
from lexfuse.text.citation.resolve import CitationResolver


@pytest.mark.parametrize(
    ("text", "number", "code"),
    [
        ("3141-3", "3141-3", ""),
        (" art. 1234-9 ? ", "1234-9", ""),
        ("§ 312j", "312j", ""),
        ("39 bis", "39 bis", ""),
        ("section 302 of the Indian Penal Code", "302", "Indian Penal Code"),
        ("1234-9, code du travail", "1234-9", "code du travail"),
    ],
)
def test_a_question_that_is_a_number(text, number, code):
    assert bare_number_of(text) == (number, code)


@pytest.mark.parametrize("text", ["", "L. 12", "le 12", "the law of 1983", "12/2003", "5 + 5"])
def test_a_question_that_is_more_than_a_number(text):
    assert bare_number_of(text) is None


def test_versions_of_one_article_are_one():
    corpus = Corpus.of([Document(id, kind=DocumentKind.STATUTE, code="Code du travail", number="L3141-3") for id in ("a", "b")])
    assert CitationResolver(corpus).bare_number("3141-3") == [0, 1]


def test_the_longest_identifier_counts_and_taken_places_do_not():
    identifiers = LiteralIdentifiers([("AB 12",), ("AB 12/2003",), ("Smith v Jones",), ("Roe",)])
    assert list(identifiers.named_in("ab12-2003, then AB-12 and smith V. jones; roe", [])) == [[1], [0], [2]]
    assert list(identifiers.named_in("AB 12/2003 and AB 12", [(0, 10)])) == [[0]]
    assert list(identifiers.named_in("roe", [])) == [[3]]


def test_a_decision_comes_before_its_paragraphs():
    decision = Document("whole", kind=DocumentKind.DECISION, identifiers=("HR-2019-1",))
    part = Document("part", kind=DocumentKind.PARAGRAPH, number="3", identifiers=("HR-2019-1",))
    resolver = CitationResolver(Corpus.of([part, decision]))
    assert list(resolver.literal("hr 2019 1", [])) == [[1]]
    assert list(resolver.literal("hr 2019 1", [Citation(0, 9, CitationSystem.REPORT, "x")])) == []


def test_the_number_alone_names_what_is_declared_with_a_number_sign():
    identifiers = LiteralIdentifiers([("no. 7525/76",), ("n° 14804/89",), ("nothing",)])
    assert [list(identifiers.named_in(text, [])) for text in ("7525/76", "14804/89")] == [[[0]], [[1]]]
    assert list(identifiers.named_in("application no. 7525/76 of 1976", [])) == [[0]]
    assert list(identifiers.named_in("7525/76 and more", [])) == []
