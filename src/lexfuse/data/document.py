"""One legal document: an article of a code, a judgment, a paragraph of a judgment, or other text."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class DocumentKind(StrEnum):
    """What a document is."""

    STATUTE = "statute"
    DECISION = "decision"
    PARAGRAPH = "paragraph"
    OTHER = "other"


class DocumentStatus(StrEnum):
    """Label of a provision's state. It is only shown: dates alone decide what is in force on a day."""

    UNKNOWN = ""
    IN_FORCE = "in force"
    DEFERRED = "deferred"  # not yet in force
    ENDING = "ending"  # in force, with a known end
    REPEALED = "repealed"


@dataclass(frozen=True, slots=True)
class Document:
    """A document and its legal metadata; every field but the id may be empty.

    >>> article = Document("L1237-19", text="L'employeur et le salarié…", language="fr", code="Code du travail")
    """

    id: str
    title: str = ""
    text: str = ""
    language: str = ""  # "fr", "en", another ISO 639-1 code, or "" if unknown
    kind: DocumentKind = DocumentKind.OTHER
    code: str = ""  # "Code du travail"
    number: str = ""  # article or paragraph number: "L1237-19", "64"
    headings: tuple[str, ...] = ()  # path from the root of the code to the section
    court: str = ""
    date: datetime.date | None = None  # of the decision or publication
    valid_from: datetime.date | None = None  # first day in force
    valid_to: datetime.date | None = None  # first day no longer in force; None: no end known
    status: DocumentStatus = DocumentStatus.UNKNOWN
    identifiers: tuple[str, ...] = ()  # ECLI, CELEX, case numbers
    citations: tuple[str, ...] = ()  # ids of documents in the same corpus
    extra: Mapping[str, Any] = field(default_factory=dict)  # further fields of the source, as JSON values
    history: tuple[Document, ...] = ()  # its other versions, in any order; see `lexfuse.data.document_history`
