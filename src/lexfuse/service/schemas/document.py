"""Documents, citations and judgements in responses.

A span is a range of characters of the text next to it: it starts at 0 and excludes its end.
"""

from __future__ import annotations

import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from lexfuse.data.document import Document
from lexfuse.service.change_outcomes import State
from lexfuse.service.problems import Problem

Span = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]


class ResponseModel(BaseModel):
    """The root of all responses: frozen, without unknown fields. Their docstrings are descriptions in the OpenAPI document."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DocumentCard(ResponseModel):
    """A document without its text, as in a list."""

    id: str
    title: str = ""
    kind: str = "other"
    language: str = ""
    code: str = ""
    number: str = ""
    headings: list[str] = Field(default=[])
    court: str = ""
    date: datetime.date | None = None
    valid_from: datetime.date | None = None
    valid_to: datetime.date | None = None
    status: str = ""
    identifiers: list[str] = Field(default=[])

    @classmethod
    def of(cls, document: Document) -> DocumentCard:
        """A document without its text.

        >>> DocumentCard.of(Document("a", title="Article 1")).title
        'Article 1'
        """
        return cls(**document_facts(document))


def document_facts(document: Document) -> dict[str, Any]:
    """The fields of a card; enumerations become their texts, and tuples lists."""
    values = {name: getattr(document, name) for name in DocumentCard.model_fields}
    return values | {name: values[name].value for name in ("kind", "status")}


class CitedDocument(ResponseModel):
    """A citation in a text, and the documents of the index it refers to."""

    text: str
    span: Span
    system: str
    key: str
    documents: list[DocumentCard]
    more: int = Field(default=0, description="Number of documents it refers to that are not listed.")


class DocumentParagraph(ResponseModel):
    """A paragraph of a document, with the citations in it."""

    anchor: str
    number: str | None
    span: Span
    text: str
    citations: list[CitedDocument] = Field(default=[])


class WholeDocument(DocumentCard):
    """A document with its text and its context."""

    text: str
    extra: dict[str, Any] = Field(default={})
    etag: str
    paragraphs: list[DocumentParagraph] = Field(default=[])
    cites: list[DocumentCard] = Field(default=[])
    cited_by: list[DocumentCard] = Field(default=[])
    cited_by_count: int = Field(default=0, description="Number of documents that cite it; the list may be shorter.")
    previous: DocumentCard | None = Field(default=None, description="The one before it in the code or judgment.")
    next: DocumentCard | None = None
    versions: list[DocumentCard] = Field(default=[], description="Other versions of the same article.")


class DocumentMarks(ResponseModel):
    """A document that is read with a question: the words to mark in its text, and its place among the results."""

    matches: list[Span] = Field(default=[], description="Words and citations of the question.")
    found: list[Span] = Field(default=[], description="Words that are searched for inside the document.")
    best: Span | None = Field(default=None, description="The best passage.")
    rank: int | None = Field(default=None, description="Rank among the results; null if it is not one of the first.")
    cursor: str = Field(default="", description="Cursor of the page of results that has it; empty for the first page.")
    previous: DocumentCard | None = Field(default=None, description="The result before it.")
    next: DocumentCard | None = Field(default=None, description="The result after it.")


class DocumentAnswer(ResponseModel):
    """A document, and the index and version it comes from."""

    index: str
    generation: int
    document: WholeDocument


class ResolvedCitations(ResponseModel):
    """Every citation of a text."""

    index: str
    generation: int
    citations: list[CitedDocument]
    more: int = Field(default=0, description="Number of further citations that were not resolved.")


class Judgement(ResponseModel):
    """A judgement of how well a document answers a question."""

    query: str
    query_id: str = Field(description="Id of the query in qrels.")
    document: str
    grade: int = Field(description="Above 0: relevant.")
    rank: int | None = Field(default=None, description="Rank among the results that were shown.")
    profile: str = ""
    moment: datetime.datetime
    generation: int = Field(description="Version of the index that was searched.")
    judge: str = Field(default="", description="Name of the judge; empty if none was given.")


class Judgements(ResponseModel):
    """The judgements on an index, oldest first; of one judge, document and question the last counts."""

    index: str
    judgements: list[Judgement]


class DocumentChange(StrEnum):
    """The effect of a write on a document."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    DELETED = "deleted"


class DocumentWritten(ResponseModel):
    """The effect of a write, and the first version of the index that has it."""

    index: str
    generation: int
    id: str
    change: DocumentChange
    etag: str | None = Field(default=None, description="ETag of the document now; null if it was deleted.")
    notes: list[str] = Field(default=[], description="Channels without the document, former versions that were removed.")


class PendingChange(ResponseModel):
    """The state of a change that took longer than its request."""

    id: str
    state: State
    result: DocumentWritten | Judgement | None = Field(
        default=None, description="The response of the request; null until the change is done."
    )
    problem: Problem | None = Field(default=None, description="Why it failed; nothing was changed.")
