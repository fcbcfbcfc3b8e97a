"""Citations of a text, and the documents of an index that they mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lexfuse.data.arrays import I32
from lexfuse.errors import TooLargeError
from lexfuse.search.index_version import IndexVersion
from lexfuse.service.operations.document_cards import cards_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import CitedDocument, ResolvedCitations
from lexfuse.text.citation.citation import Citation
from lexfuse.text.citation.find import find_citations

LISTED = 20  # documents that one citation means
CITATIONS = 5000  # of a text that are looked up; the others are counted
LONGEST = 1_000_000  # characters of a text


@dataclass(frozen=True, slots=True)
class CiteRequest:
    """A text whose citations are looked up; `code` is the code that it belongs to, if it is part of one.

    >>> CiteRequest("article L. 1237-19").code
    ''
    """

    text: str
    index: str = ""
    code: str = ""

    def __post_init__(self) -> None:
        """Refuse a text that takes too long to read."""
        if len(self.text) > LONGEST:
            raise TooLargeError(f"the text has {len(self.text):,} characters, {LONGEST:,} are allowed; send it in parts")


def cite(library: IndexRegistry, ask: CiteRequest) -> ResolvedCitations:
    """Every citation of a text, in order of place, with the documents that it means.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.service.registry import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law", documents=[Document("a", number="L1", code="Code du travail")]).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         found = cite(library, CiteRequest("Voir l'article L. 1 du code du travail."))
    >>> [(one.text, one.key, [card.id for card in one.documents]) for one in found.citations]
    [('article L. 1 du code du travail', 'L1', ['a'])]
    """
    with library.shelf(ask.index).lease() as opened:
        every = find_citations(ask.text)
        found = opened.citations.cited(ask.text, own_code=ask.code, found=every[:CITATIONS])
        more = max(len(every) - CITATIONS, 0)
        citations = cited_of(opened, ask.text, found)
        return ResolvedCitations(index=opened.name, generation=opened.generation, citations=citations, more=more)


def cited_of(
    opened: IndexVersion, text: str, found: Iterable[tuple[Citation, I32]], *, own: str | None = None
) -> list[CitedDocument]:
    """Citations of a text as values; the document that the text is of, if it is one, is not listed as cited by itself."""
    ids = opened.snapshot.ids
    itself = ids.ordinal(own) if own is not None else -1
    meant = []
    for citation, numbers in found:
        others = numbers[numbers != itself]
        meant.append((citation, [ids[at] for at in others[:LISTED].tolist()], max(len(others) - LISTED, 0)))
    cards = cards_of(opened, [id for _, some, _ in meant for id in some])
    return [
        CitedDocument(
            text=text[citation.start : citation.end],
            span=(citation.start, citation.end),
            system=citation.system.value,
            key=citation.key,
            documents=[cards[id] for id in some],
            more=more,
        )
        for citation, some, more in meant
    ]
