"""A segment built from documents: fields, weights, languages and progress."""

import pytest

from lexfuse.data.document import Document
from lexfuse.errors import DataError
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.segments.segment import build_segment


def postings(segment, term):
    return [array.tolist() for array in segment.channels["bm25"].postings(term)]


def test_fields_and_weights():
    documents = [Document("a", title="notice", text="notice court", language="en"), Document("b", text="court", language="en")]
    segment = build_segment(documents, IndexSettings(fields={"title": 3.0, "text": 1.0}))
    assert postings(segment, "notic") == [[0], [4.0]]
    assert postings(segment, "court") == [[0, 1], [1.0, 1.0]]
    assert segment.channels["bm25"].lengths.tolist() == [5.0, 1.0]


def test_each_document_is_read_in_its_language():
    documents = [Document("a", text="les salariés", language="fr"), Document("b", text="the notices", language="en")]
    assert list(build_segment(documents, IndexSettings()).channels["bm25"].terms) == ["notic", "salar"]


def test_documents_without_text_are_documents():
    segment = build_segment([Document("a"), Document("b", text="notice", language="en")], IndexSettings())
    assert segment.channels["bm25"].lengths.tolist() == [0.0, 1.0]
    assert list(segment.ids) == ["a", "b"]


def test_no_documents():
    assert len(build_segment([], IndexSettings()).ids) == 0


def test_progress_is_told():
    told = []
    build_segment([Document("a"), Document("b")], IndexSettings(), progress=told.append)
    assert told == [1, 2]


def test_a_language_that_is_none_is_an_error_of_the_document():
    with pytest.raises(DataError, match="document 'a': language must be a code like fr or en, got 'Klingon'"):
        build_segment([Document("a", text="x", language="Klingon")], IndexSettings())
