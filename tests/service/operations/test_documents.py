"""A document to be read: paragraphs with anchors, citations with right spans, its neighbours."""

import dataclasses

import pytest

from lexfuse.data.document import Document
from lexfuse.errors import NotFoundError
from lexfuse.service.operations.documents import document, etag_of, text_paragraphs
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.schemas.document import CitedDocument
from lexfuse.storage.index_folder import IndexFolder


def read(library, id):
    return document(library, id).document


def ids(cards):
    return [card.id for card in cards]


def test_paragraphs_have_anchors_of_their_numbers_or_are_counted(law):
    found = read(law, "dec-1").paragraphs
    assert [(one.anchor, one.number) for one in found] == [
        ("s1", None), ("p1", "1"), ("s2", None), ("p2", "2"), ("p3", "3"),
    ]  # fmt: skip
    text = read(law, "dec-1").text
    assert all(text[one.span[0] : one.span[1]] == one.text for one in found)
    assert "".join("".join(one.text for one in found).split()) == "".join(text.split())


def test_citations_stand_in_their_paragraph_with_spans_of_its_text(law):
    [paragraph] = [one for one in read(law, "dec-1").paragraphs if one.anchor == "p2"]
    [cited] = paragraph.citations
    assert paragraph.text[cited.span[0] : cited.span[1]] == cited.text
    assert "C-60/22" in cited.text
    assert ids(cited.documents) == ["C-60/22#12"]  # the point that is named, not the whole judgment


def test_an_article_means_its_own_code_unless_it_names_another(law):
    [paragraph] = read(law, "travail-L10").paragraphs
    assert [ids(one.documents) for one in paragraph.citations] == [["travail-L1"], ["travail-L2"], ["civil-L1"]]


def test_a_text_that_names_itself_does_not_cite_itself(small):
    from lexfuse.service.operations.document_writes import DocumentBody, put_document

    put_document(small, "x", DocumentBody(text="Le présent article L. 7.", number="L7", code="Code du travail", language="fr"))
    [paragraph] = read(small, "x").paragraphs
    assert [one.documents for one in paragraph.citations] == [[]]


def test_what_it_cites_and_what_cites_it(law):
    assert ids(read(law, "travail-L10").cites) == ["travail-L1", "travail-L2", "civil-L1"]  # "gone" is not in the index
    first = read(law, "travail-L1")
    assert (ids(first.cited_by), first.cited_by_count) == (["travail-L2", "travail-L10"], 2)
    assert (read(law, "dec-1").cited_by, read(law, "dec-1").cited_by_count) == ([], 0)


def test_the_list_of_who_cites_it_may_be_the_beginning(tmp_path):
    documents = [Document("a"), *(Document(f"b{n:03}", citations=("a", "a")) for n in range(130))]
    IndexFolder.create(tmp_path / "i", documents=documents).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "i")]) as library:
        found = read(library, "a")
    assert (len(found.cited_by), found.cited_by_count) == (100, 130)


def test_neighbours_in_the_code_by_number_in_the_version_of_the_same_time(law):
    second, tenth = read(law, "travail-L2"), read(law, "travail-L10")
    assert (second.previous.id, second.next.id) == ("travail-L1", "new-L3")
    assert (tenth.previous.id, tenth.next) == ("new-L3", None)
    assert (read(law, "travail-L1").previous, read(law, "civil-L1").next) == (None, None)
    assert (read(law, "old-L3").previous.id, read(law, "old-L3").next.id) == ("travail-L2", "travail-L10")


def test_neighbours_in_the_judgment_by_number(law):
    found = read(law, "C-60/22#12")
    assert (found.previous.id, found.next.id) == ("C-60/22#9", "C-60/22#100")
    assert read(law, "C-60/22#100").next is None
    assert (read(law, "dec-1").previous, read(law, "dec-1").next) == (None, None)


def test_versions_are_the_same_article_on_other_days(law):
    assert ids(read(law, "new-L3").versions) == ["old-L3"]
    assert ids(read(law, "old-L3").versions) == ["new-L3"]
    assert read(law, "travail-L1").versions == []
    assert read(law, "C-60/22#12").versions == []


def test_the_etag_tells_every_field_and_nothing_else():
    one = Document("a", text="x", headings=("A", "B"))
    assert etag_of(one) == etag_of(dataclasses.replace(one))
    others = [
        dataclasses.replace(one, text="y"),
        dataclasses.replace(one, headings=("A > B",)),
        dataclasses.replace(one, extra={"a": 1}),
    ]
    assert len({etag_of(other) for other in [one, *others]}) == 4


def test_a_citation_across_two_paragraphs_is_cut_at_the_end_of_the_first():
    text = "Voir l'article\nL. 1 du code."
    [first, _] = text_paragraphs(text, [CitedDocument(text=text[7:19], span=(7, 19), system="", key="L1", documents=[])])
    assert (first.citations[0].span, first.citations[0].text) == ((7, 14), "article")


@pytest.mark.parametrize("text", ["", " \n\n ", "\n\n  Un seul.  \n"])
def test_texts_of_next_to_nothing(text):
    assert [one.text for one in text_paragraphs(text)] == ([text.strip()] if text.strip() else [])


def test_a_document_that_is_not_there(law):
    for id in ("nowhere", "", "../catalog.sqlite", "\ud800", "a" * 100_000):
        with pytest.raises(NotFoundError, match="no document"):
            read(law, id)
    with pytest.raises(NotFoundError, match="no index 'other'; there are law"):
        document(law, "dec-1", "other")
