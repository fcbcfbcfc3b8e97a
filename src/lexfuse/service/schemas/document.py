"""A whole document, paragraph by paragraph, and what stands around it."""

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
    """A document without its text: what a list of documents shows."""

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
    """A citation that a text holds, and the documents of the index that it means."""

    text: str
    span: Span
    system: str
    key: str
    documents: list[DocumentCard]
    more: int = 0  # documents that it means and that are not listed: a range of articles may have hundreds


class DocumentParagraph(ResponseModel):
    """A paragraph of a document, with the citations in it."""

    anchor: str
    number: str | None
    span: Span
    text: str
    citations: list[CitedDocument] = Field(default=[])


class WholeDocument(DocumentCard):
    """A document with its text and what stands around it."""

    text: str
    extra: dict[str, Any] = Field(default={})
    etag: str
    paragraphs: list[DocumentParagraph] = Field(default=[])
    cites: list[DocumentCard] = Field(default=[])
    cited_by: list[DocumentCard] = Field(default=[])
    cited_by_count: int = 0  # of which the list may be the beginning
    previous: DocumentCard | None = None  # in the code, or in the judgment
    next: DocumentCard | None = None
    versions: list[DocumentCard] = Field(default=[])  # other versions of the same article


class DocumentAnswer(ResponseModel):
    """A document, and which version of which index holds it."""

    index: str
    generation: int
    document: WholeDocument


class ResolvedCitations(ResponseModel):
    """Every citation of a text."""

    index: str
    generation: int
    citations: list[CitedDocument]
    more: int = 0  # citations that the text holds after these, and that were not looked up


class DocumentChange(StrEnum):
    """What became of a document."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    DELETED = "deleted"


class DocumentWritten(ResponseModel):
    """What became of a document that was written, and from which version of the index on."""

    index: str
    generation: int
    id: str
    change: DocumentChange
    etag: str | None = None  # of the document as it is now; null for one that is gone
    notes: list[str] = Field(default=[])  # what is left to do: channels that do not hold it yet


class PendingChange(ResponseModel):
    """A change that took longer than a request may: what is known of it."""

    id: str
    state: State
    result: DocumentWritten | Judgement | None = None  # as the answer would have been; null until it is done
    problem: Problem | None = None  # why it failed; nothing was changed then
