"""A whole document, paragraph by paragraph, with its context."""

from __future__ import annotations

import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from lexfuse.service.change_outcomes import State
from lexfuse.service.problems import Problem
from lexfuse.service.schemas.base import ResponseModel, Span
from lexfuse.service.schemas.feedback import Judgement


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
    notes: list[str] = Field(default=[], description="Channels that do not contain the document yet.")


class PendingChange(ResponseModel):
    """The state of a change that took longer than its request."""

    id: str
    state: State
    result: DocumentWritten | Judgement | None = Field(
        default=None, description="The response of the request; null until the change is done."
    )
    problem: Problem | None = Field(default=None, description="Why it failed; nothing was changed.")
