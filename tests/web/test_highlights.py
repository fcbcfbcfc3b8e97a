from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lexfuse.service.schemas.document import CitedDocument, DocumentCard
from lexfuse.service.schemas.search import MarkedSpan
from lexfuse.web.highlights import groups_of, mark_groups, segments_of

spans = st.tuples(st.integers(0, 60), st.integers(0, 60))


def cited(span, *ids):
    return CitedDocument(text="", span=span, system="french article", key="", documents=[DocumentCard(id=one) for one in ids])


@given(st.text(max_size=40), st.lists(spans, max_size=6), st.none() | spans, st.lists(spans, max_size=4))
def test_the_text_is_never_changed(text, matches, best, links):
    pieces = segments_of(text, matches, best, [cited(span, "a") for span in links])
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)
    groups = groups_of(pieces)
    assert [piece for group in groups for piece in group.segments] == pieces
    assert all(one.best != next_.best for one, next_ in pairwise(groups))


@given(st.text(min_size=1, max_size=30), st.lists(spans, max_size=6), st.none() | spans)
def test_every_character_has_its_marks(text, matches, best):
    flags = [(piece.match, piece.best) for piece in segments_of(text, matches, best) for _ in piece.text]
    for at, (match, inside) in enumerate(flags):
        assert match == any(start <= at < end for start, end in matches)
        assert inside == (best is not None and best[0] <= at < best[1])


def test_a_match_across_the_end_of_the_best_sentence_is_cut_there():
    pieces = segments_of("abcdef", [(2, 5)], (0, 3))
    assert [(piece.text, piece.match, piece.best) for piece in pieces] == [
        ("ab", False, True), ("c", True, True), ("de", True, False), ("f", False, False)]  # fmt: skip


def test_a_citation_without_a_document_is_no_link():
    assert [piece.target for piece in segments_of("L. 1", links=[cited((0, 4))])] == [""]


def test_of_citations_that_overlap_the_first_stands():
    pieces = segments_of("articles L. 1 et 2", links=[cited((0, 13), "a"), cited((9, 18), "b")])
    assert [(piece.text, piece.target) for piece in pieces] == [("articles L. 1", "a"), (" et 2", "b")]


def test_a_mark_without_spans_is_one_plain_group():
    [group] = mark_groups(MarkedSpan(text="la loi"))
    assert not group.best
    assert group.segments[0].text == "la loi"


def test_an_empty_text_has_no_pieces():
    assert mark_groups(MarkedSpan(text="", matches=[(0, 3)])) == []
