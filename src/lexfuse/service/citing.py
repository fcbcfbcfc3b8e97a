"""Citations of a text, and the documents of an index that they mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lexfuse.service.answers.citation import Cited, Resolved
from lexfuse.service.cards import cards_of
from lexfuse.service.library import Library
from lexfuse.service.opened import Opened
from lexfuse.text.citation import Citation

LISTED = 20  # documents that one citation means


@dataclass(frozen=True, slots=True)
class CiteAsk:
    """A text whose citations are looked up; `code` is the code that it belongs to, if it is part of one.

    >>> CiteAsk("article L. 1237-19").code
    ''
    """

    text: str
    index: str = ""
    code: str = ""


def cite(library: Library, ask: CiteAsk) -> Resolved:
    """Every citation of a text, in order of place, with the documents that it means.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.index.index import Index
    >>> from lexfuse.service.library import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Index.create(f"{folder}/law", documents=[Document("a", number="L1", code="Code du travail")]).close()
    ...     with Library.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         found = cite(library, CiteAsk("Voir l'article L. 1 du code du travail."))
    >>> [(one.text, one.key, [card.id for card in one.documents]) for one in found.citations]
    [('article L. 1 du code du travail', 'L1', ['a'])]
    """
    with library.shelf(ask.index).lease() as opened:
        found = opened.citations.cited(ask.text, own_code=ask.code)
        return Resolved(index=opened.name, generation=opened.generation, citations=cited_of(opened, ask.text, found))


def cited_of(
    opened: Opened, text: str, found: Iterable[tuple[Citation, Sequence[int]]], *, own: str | None = None
) -> list[Cited]:
    """Citations of a text as values; the document that the text is of, if it is one, is not listed as cited by itself."""
    ids = opened.snapshot.ids
    meant = [(citation, [id for id in (ids[at] for at in numbers) if id != own]) for citation, numbers in found]
    cards = cards_of(opened, [id for _, some in meant for id in some[:LISTED]])
    return [
        Cited(
            text=text[citation.start : citation.end],
            span=(citation.start, citation.end),
            system=citation.system.value,
            key=citation.key,
            documents=[cards[id] for id in some[:LISTED]],
            more=max(len(some) - LISTED, 0),
        )
        for citation, some in meant
    ]
