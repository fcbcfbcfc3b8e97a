"""Judgements: which results answer a question, kept with the index, to evaluate and to tune by.

A judgement keeps the text of its question. Nothing else of the service does, unless the log is told to.
"""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.feedback import Judgement, Judgements
from lexfuse.service.schemas.request_parameters import RequestParameters
from lexfuse.storage.feedback import FeedbackEntry, query_id
from lexfuse.storage.index_folder import IndexFolder

HIGHEST = 10  # grade


class JudgementBody(RequestParameters):
    """What somebody says about a document for a question."""

    query: str = Field(min_length=1, max_length=20_000, description="The question.", examples=["durée du préavis"])
    document: str = Field(min_length=1, max_length=500, description="The id of the document.", examples=["LEGIARTI000006901112"])
    grade: int = Field(ge=0, le=HIGHEST, description="0 for not relevant, 1 for relevant, more for better answers.", examples=[1])
    rank: int | None = Field(None, ge=1, le=1_000_000, description="Where it stood among the results, if it did.", examples=[3])
    profile: str = Field("", max_length=200, description="The profile that ranked the results.", examples=["hybrid"])
    index: str = Field("", max_length=100, description="The index; the first one if not given.")
    generation: int | None = Field(
        None, ge=0, le=2**31 - 1, description="The version that was searched; the newest if not given.", examples=[4]
    )


def add_feedback(library: IndexRegistry, given: JudgementBody) -> Judgement:
    """Keep a judgement; `NotFoundError` if the index does not have the document.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.service.registry import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law", documents=[Document("a")]).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         _ = add_feedback(library, JudgementBody(query="préavis", document="a", grade=1))
    ...         [(one.query, one.grade) for one in judgements(library).judgements]
    [('préavis', 1)]
    """
    shelf = library.shelf(given.index)
    generation = shelf.generation if given.generation is None else given.generation
    kept = FeedbackEntry(given.query, given.document, given.grade, rank=given.rank, profile=given.profile, generation=generation)
    with IndexFolder(shelf.folder) as index:
        index.feedback.keep(kept)
    return _judgement(kept)


def judged(library: IndexRegistry, query: str, index: str = "") -> dict[str, int]:
    """The grades of documents for one question, the last given of each.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.service.registry import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law", documents=[Document("a")]).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         _ = add_feedback(library, JudgementBody(query="préavis", document="a", grade=1))
    ...         judged(library, "préavis"), remove_feedback(library, "préavis", "a"), judged(library, "préavis")
    ({'a': 1}, 1, {})
    """
    with IndexFolder(library.shelf(index).folder) as folder:
        return {one.doc: one.grade for one in folder.feedback.kept(query)}


def remove_feedback(library: IndexRegistry, query: str, document: str, index: str = "") -> int:
    """Take back what was said about a document for a question; how many judgements that were. See `judged`."""
    with IndexFolder(library.shelf(index).folder) as folder:
        return folder.feedback.remove(query, document)


def judgements(library: IndexRegistry, index: str = "") -> Judgements:
    """Every judgement on an index, in the order in which they were given."""
    shelf = library.shelf(index)
    with IndexFolder(shelf.folder) as folder:
        return Judgements(index=shelf.name, judgements=[_judgement(one) for one in folder.feedback.kept()])


def _judgement(one: FeedbackEntry) -> Judgement:
    return Judgement(
        query=one.query,
        query_id=query_id(one.query),
        document=one.doc,
        grade=one.grade,
        rank=one.rank,
        profile=one.profile,
        moment=one.moment,
        generation=one.generation,
    )
