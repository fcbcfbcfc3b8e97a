"""A document as it is read from a list of results: its place in the list, its best passage and the words to mark in it."""

from __future__ import annotations

from pydantic import Field

from lexfuse.data.document import Document
from lexfuse.errors import UnknownDocumentError, UnknownProfileError
from lexfuse.search.hits import SortOrder
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.result_place import ResultPlace, question_matches, result_place, words_in_document
from lexfuse.search.results import SearchHit
from lexfuse.service.operations.cursor import Cursor
from lexfuse.service.operations.search import SearchQuery, marked_snippet
from lexfuse.service.parameters import OPERATORS, QuestionParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import DocumentCard, DocumentMarks, Span


class MarkParameters(QuestionParameters):
    """A document, the question that it was found by, and words to find in it."""

    document: str = Field(min_length=1, max_length=2000, description="Document id.")
    query: str = Field("", description="The question that it was found by.")
    rank: int = Field(0, ge=0, le=1_000_000, description="Its rank when it was found; 0 if it is not known.")
    sort: SortOrder = Field(SortOrder.RELEVANCE, description="The order of the results.")
    find: str = Field("", max_length=500, description="Words to find in the document.")
    operators: bool = Field(True, description=OPERATORS)


def document_marks(registry: IndexRegistry, given: MarkParameters) -> DocumentMarks:
    """Where a document has the words of a question, and which results come before and after it.

    >>> marks = document_marks(registry, MarkParameters(document="lib-4", query="retard de prêt", rank=1))
    >>> marks.rank, marks.next.id, len(marks.matches) > 0
    (1, 'lib-3', True)
    """
    with registry.index(given.index).lease() as version:
        document = _read(version, given)
        shown = version.holding(document)
        found = [(one.start, one.end) for one in words_in_document(shown, given.find, document)] if given.find.strip() else []
        if not given.query.strip():
            return DocumentMarks(found=found)
        matches = question_matches(shown, given.query, document, operators=given.operators, language=given.language)
        place = _placed(version, given)
        generation = version.generation
    spans = [(one.start, one.end) for one in matches]
    if place is None:
        return DocumentMarks(matches=spans, found=found)
    return DocumentMarks(
        matches=spans,
        found=found,
        best=best_passage(place.hit, document),
        rank=place.hit.rank,
        cursor=_page_cursor(given, place.hit.rank, generation),
        previous=DocumentCard.of(place.previous.document) if place.previous else None,
        next=DocumentCard.of(place.next.document) if place.next else None,
    )


def best_passage(hit: SearchHit, document: Document) -> Span | None:
    """The part of a document that its result showed as the best: a sentence of the snippet, or the snippet."""
    shown, start = marked_snippet(hit), hit.snippet.span.start
    if not shown.matches and hit.passage is None:
        return None  # the beginning of the text, for want of anything better
    begin, end = shown.best or (0, len(shown.text))
    span = (start + begin, start + end)
    same = document.text[slice(*span)] == shown.text[begin:end]  # another version of the text has other places
    return span if same else None


def _read(version: IndexVersion, given: MarkParameters) -> Document:
    """The document in its version of the day, or as it is now where it was not in force then."""
    try:
        return version.read(given.document, given.as_of)
    except UnknownDocumentError:
        return version.read(given.document)


def _page_cursor(given: MarkParameters, rank: int, generation: int) -> str:
    """The cursor of the page of results that has a rank; empty for the first page."""
    asked = SearchQuery(**given.model_dump(exclude={"document", "rank", "find"}))
    after = (rank - 1) // asked.k * asked.k
    return Cursor(after, generation, asked.digest()).text() if after else ""


def _placed(version: IndexVersion, given: MarkParameters) -> ResultPlace | None:
    """The place of the document in the results; those of the default profile if the one named no longer exists."""
    how = given.model_dump(include={"language", "filters", "as_of", "operators", "sort", "profile"})
    try:
        return result_place(version, given.query, given.document, rank=given.rank, **how)
    except UnknownProfileError:
        return result_place(version, given.query, given.document, rank=given.rank, **how | {"profile": ""})
