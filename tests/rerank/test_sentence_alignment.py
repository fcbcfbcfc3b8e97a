"""Paragraphs that sentences stand in, and the map of paragraphs between two texts."""

import pytest

from lexfuse.channels.explanation import SentencePair
from lexfuse.rerank.nearest_sentences import paragraph_pairs
from lexfuse.text.paragraphs import ParagraphMap
from lexfuse.text.passages import Passage

NUMBERED = "The facts\n\n1. The lease ended.\nHe stayed.\n\n2. He owed rent.\n\nNo costs.\n\n3. Held."


def test_blank_lines_and_numbers_begin_paragraphs():
    layout = ParagraphMap(NUMBERED)
    assert [(one.number, NUMBERED[one.start : one.end]) for one in layout.paragraphs] == [
        (None, "The facts"),
        ("1", "1. The lease ended.\nHe stayed."),
        ("2", "2. He owed rent."),
        ("2", "No costs."),
        ("3", "3. Held."),
    ]
    assert layout.of([0, NUMBERED.index("He stayed"), NUMBERED.index("No"), len(NUMBERED)]).tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("One line.\nAnother line.", ["One line.", "Another line."]),
        ("One line.\nthe same.\n\nAnother.", ["One line.\nthe same.", "Another."]),
        ("Only this.\n", ["Only this."]),
        ("", [""]),
        ("\n\n  Late start.\nAnd on.", ["", "Late start.", "And on."]),
    ],
)
def test_lines_are_paragraphs_only_where_no_line_is_blank(text, paragraphs):
    layout = ParagraphMap(text)
    assert [text[one.start : one.end] for one in layout.paragraphs] == paragraphs
    assert [one.at for one in layout.paragraphs] == list(range(len(paragraphs)))


def met(query, doc, cosine, rank=1):
    return SentencePair(Passage(query, query + 2), Passage(doc, doc + 2), cosine, rank)


def test_the_map_counts_meetings_and_keeps_the_best_cosine():
    query, doc = ParagraphMap("1. Rent.\n2. Costs and fees."), ParagraphMap(NUMBERED)
    lease, owed = NUMBERED.index("lease"), NUMBERED.index("owed")
    found = paragraph_pairs(query, doc, [met(0, owed, 0.9), met(12, lease, 0.5), met(18, lease, 0.7, 2), met(0, 0, 0.2)])
    assert [(pair.query.number, pair.doc.number, pair.meetings, pair.cosine) for pair in found] == [
        ("2", "1", 2, 0.7),
        ("1", "2", 1, 0.9),
        ("1", None, 1, 0.2),
    ]
    assert paragraph_pairs(query, doc, []) == ()
