"""Pinpoint citations: how to cite a document, and the paragraph that a passage is in."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Protocol

from lexfuse.text.letters import NO_BREAK_SPACE
from lexfuse.text.paragraphs import ParagraphMap

_NUMBER = re.compile(r"\*{0,2}[A-Z]{0,2}\.?\s?\d.*")  # L1237-19, R. 12, 1134: an article; other numbers ("Annexe I") need no word


class Citable(Protocol):
    """The fields of a citation; documents and document cards have them."""

    @property
    def id(self) -> str:
        """The document's id."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def kind(self) -> str | None:
        """Statute, decision or paragraph."""

    @property
    def code(self) -> str:
        """The code that an article belongs to."""

    @property
    def number(self) -> str:
        """The number of an article or a paragraph."""

    @property
    def court(self) -> str:
        """The court of a decision."""

    @property
    def date(self) -> datetime.date | None:
        """The day of a decision."""

    @property
    def identifiers(self) -> Sequence[str]:
        """Case numbers, neutral citations, ECLI."""


def format_citation(card: Citable, paragraph: str | None = None) -> str:
    """A citation: an article with its code, or a decision with court, date and numbers; and the paragraph, if given.

    >>> from lexfuse.data.document import Document, DocumentKind
    >>> format_citation(Document("a", kind=DocumentKind.STATUTE, code="Code du travail", number="L1237-19"))
    'Code du travail, article L1237-19'
    >>> decision = Document("b", "Smith v. Jones", kind=DocumentKind.DECISION, court="High Court", identifiers=("[2020] 1",))
    >>> format_citation(decision, "64")
    'Smith v. Jones, High Court, [2020] 1, § 64'
    """
    if card.kind == "statute" and card.code and card.number:
        number = f"article {card.number}" if _NUMBER.fullmatch(card.number) else card.number
        parts = [card.code, number]
    else:
        dated = card.date.isoformat() if card.date else ""
        parts = [card.title, card.court, dated, *card.identifiers]
        if not card.title and not card.identifiers:
            parts.append(card.id)
        if card.kind == "paragraph" and paragraph is None and not re.search(rf"\b{re.escape(card.number)}\b", card.title):
            paragraph = card.number
    if paragraph:
        parts.append(f"§ {paragraph}")
    given: list[str] = []
    for part in (" ".join(part.split()) for part in parts):
        if part and not any(part in one for one in given):  # the title often contains the case number
            given.append(part)
    return ", ".join(given)


def paragraph_at(text: str, passage: str) -> str | None:
    r"""The number of the paragraph in which a passage begins, if the text has numbered paragraphs.

    >>> paragraph_at("Facts\n\n1. The lease ended.\n\n2. Rent is due.", "Rent is due.")
    '2'
    """
    start = text.find(passage)
    if start < 0 or not passage:
        return None
    layout = ParagraphMap(text)
    return layout.paragraphs[int(layout.of([start])[0])].number


LETTERED_NUMBER = re.compile(r"(\*{0,2}(?:LO|[LRDA]))\.?\s?(\d.*)")  # of a French article: L1237-19


def article_number(number: str) -> str:
    r"""The number of an article as printed, with non-breaking characters.

    >>> article_number("L1237-19"), article_number("16-1")
    ('L.\xa01237‑19', '16‑1')
    """
    match = LETTERED_NUMBER.fullmatch(number)
    spelled = f"{match[1]}.{NO_BREAK_SPACE}{match[2]}" if match else number
    return spelled.replace("-", "‑")
