"""Responses about documents in time: versions and differences."""

from __future__ import annotations

import datetime
from typing import Literal

from pydantic import Field

from lexfuse.data.document import Document
from lexfuse.service.schemas.document import ResponseModel


class DocumentVersion(ResponseModel):
    """The text of a document in a period."""

    valid_from: datetime.date | None = Field(description="First day in force; null if unknown.")
    valid_to: datetime.date | None = Field(description="First day no longer in force; null if no end is known.")
    title: str = ""
    headings: list[str] = Field(default=[])
    text: str

    @classmethod
    def of(cls, version: Document) -> DocumentVersion:
        """A version without what all versions share.

        >>> DocumentVersion.of(Document("a", text="la loi")).text
        'la loi'
        """
        start, end = version.valid_from, version.valid_to
        return cls(valid_from=start, valid_to=end, title=version.title, headings=list(version.headings), text=version.text)


class DocumentHistory(ResponseModel):
    """All versions of a document, the oldest first."""

    index: str
    generation: int = Field(description="State of the index that answered.")
    id: str
    versions: list[DocumentVersion]


class ChangedText(ResponseModel):
    """A part of two texts: in both, only in the first, or only in the second."""

    kind: Literal["same", "removed", "added"]
    text: str


class DocumentDifference(ResponseModel):
    """What changed in a document from one day to another."""

    index: str
    generation: int = Field(description="State of the index that answered.")
    id: str
    changed: bool
    before: DocumentVersion | None = Field(description="The version of the first day; null if it was not in force.")
    after: DocumentVersion | None = Field(description="The version of the second day; null if it is not in force.")
    unknown_days: list[datetime.date] = Field(
        default=[], description="Days before the first version, on which the document may have had another text."
    )
    changes: list[ChangedText] = Field(description="Both texts in order, word by word.")
