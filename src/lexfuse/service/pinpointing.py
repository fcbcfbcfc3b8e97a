"""Pinpoint citations: how a document is cited so that a lawyer finds it, and which of its paragraphs a passage stands in."""

from __future__ import annotations

import re

from lexfuse.rerank.layout import Layout
from lexfuse.service.answers.card import Card

_NUMBER = re.compile(r"\*{0,2}[A-Z]{0,2}\.?\s?\d.*")  # L1237-19, R. 12, 1134: an article; anything else says itself what it is


def pinpoint(card: Card, paragraph: str | None = None) -> str:
    """A citation: an article with its code, a decision with its court, day and numbers; and the paragraph, if one is meant.

    >>> pinpoint(Card(id="a", kind="statute", code="Code du travail", number="L1237-19"))
    'Code du travail, article L1237-19'
    >>> pinpoint(Card(id="b", title="Smith v. Jones", kind="decision", court="High Court", identifiers=["[2020] 1"]), "64")
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
    told: list[str] = []
    for part in (" ".join(part.split()) for part in parts):
        if part and not any(part in one for one in told):  # a title often has the number of the case in it
            told.append(part)
    return ", ".join(told)


def paragraph_at(text: str, passage: str) -> str | None:
    r"""The number of the paragraph of a text in which a passage begins, if the text numbers its paragraphs.

    >>> paragraph_at("Facts\n\n1. The lease ended.\n\n2. Rent is due.", "Rent is due.")
    '2'
    """
    start = text.find(passage)
    if start < 0 or not passage:
        return None
    layout = Layout(text)
    return layout.paragraphs[int(layout.of([start])[0])].number
