"""Names of documents in lists, and citations of places in them."""

from __future__ import annotations

import re

from lexfuse.service.schemas.document import DocumentCard
from lexfuse.text.citation.format import LETTERED_NUMBER, article_number
from lexfuse.text.letters import NO_BREAK_SPACE
from lexfuse.web.locale_format import day
from lexfuse.web.messages import Messages

_ARTICLE = re.compile(r"\b(art\.|(?:LO|[LRDA])\.) (?=(?:LO|[LRDA])\.|\d)")  # must stay with the number after it


def name_of(card: DocumentCard) -> str:
    r"""The title of a document, or what else names it.

    >>> name_of(DocumentCard(id="x1", title="Arrêt Dupont")), name_of(DocumentCard(id="x1",
    ...     identifiers=["C-60/22"])), name_of(DocumentCard(id="x1"))
    ('Arrêt Dupont', 'C-60/22', 'x1')
    >>> name_of(DocumentCard(id="x1", title="Code du travail, art. L. 1237-19"))
    'Code du travail, art.\xa0L.\xa01237-19'
    """
    return _ARTICLE.sub(rf"\1{NO_BREAK_SPACE}", card.title) or (card.identifiers[0] if card.identifiers else "") or card.id


def short_name(card: DocumentCard, beside: DocumentCard, *, messages: Messages) -> str:
    """The name of a document in a list next to another: for an article of the same code its number or its heading is enough.

    >>> from lexfuse.web.messages import InterfaceLocale, messages_of
    >>> article = DocumentCard(id="a", title="Code du travail, art. L. 1", code="Code du travail", number="L1")
    >>> short_name(article, article, messages=messages_of(InterfaceLocale.FRENCH)).replace("\u00a0", " ")
    'Article L. 1'
    >>> article = DocumentCard(id="b", title="Constitution, Preamble", code="Constitution", number="Preamble")
    >>> short_name(article, article, messages=messages_of(InterfaceLocale.ENGLISH))
    'Preamble'
    """
    if not card.code or card.code != beside.code:
        return name_of(card)
    lettered = card.number and LETTERED_NUMBER.fullmatch(card.number)
    words = messages.text("cite.article", number=article_number(card.number)) if lettered else name_of(card)
    words = words.removeprefix(f"{card.code}, ")
    return words[:1].upper() + words[1:]


def localised_citation(card: DocumentCard, paragraph: str | None = None, clause: int | None = None, *, messages: Messages) -> str:
    """A citation to copy: an article with its code, a decision with its court and day.

    `paragraph` is the number of a numbered paragraph, `clause` the position of another (the "alinéa" of an article).

    >>> from lexfuse.web.messages import InterfaceLocale, messages_of
    >>> card = DocumentCard(id="a", kind="statute", number="L1237-19", code="Code du travail")
    >>> localised_citation(card, messages=messages_of(InterfaceLocale.FRENCH)).replace("\u00a0", " ")
    'article L. 1237-19, code du travail'
    >>> localised_citation(DocumentCard(id="b", title="Smith v. Jones", kind="decision"), "64",
    ...     messages=messages_of(InterfaceLocale.ENGLISH))
    'Smith v. Jones, paragraph 64'
    """
    if card.kind == "statute" and card.number:
        code = card.code[:1].lower() + card.code[1:] if card.language != "en" and card.code.startswith("Code ") else card.code
        number = article_number(card.number).replace("‑", "-")
        is_article = card.number[0].isdigit() or LETTERED_NUMBER.fullmatch(card.number)
        parts = [messages.text("cite.article", number=number) if is_article else card.number, code]
    else:
        dated = "" if card.date is None else day(card.date, messages.language)
        known = [part for part in (card.title, card.court, dated, *card.identifiers) if part]
        parts = known or [card.id]
        if not card.title and not card.identifiers:
            parts = [*known, card.id]
    if paragraph:
        parts.append(messages.text("cite.paragraph", number=paragraph))
    elif clause is not None:
        parts.append(messages.text("cite.clause", number=str(clause)))
    return ", ".join(dict.fromkeys(part for part in parts if part))
