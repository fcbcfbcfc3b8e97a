"""Documents to read, with their context, and the citations of texts."""

from __future__ import annotations

import datetime
import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from pydantic import Field

from lexfuse.data.arrays import I32
from lexfuse.data.document import Document
from lexfuse.errors import TooLargeError
from lexfuse.search.document_context import citing_documents, neighbours, versions
from lexfuse.search.index_version import IndexVersion
from lexfuse.service.parameters import Day, IndexParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import (
    CitedDocument,
    DocumentAnswer,
    DocumentCard,
    DocumentParagraph,
    ResolvedCitations,
    WholeDocument,
    document_facts,
)
from lexfuse.storage.document_rows import row_of
from lexfuse.text.citation.citation import Citation
from lexfuse.text.citation.find import find_citations
from lexfuse.text.paragraphs import ParagraphMap

CITED_BY_LISTED = 100
LISTED = 20  # documents that one citation means
MAX_CITATIONS = 5000  # of a text that are looked up; the others are counted
MAX_CHARACTERS = 1_000_000  # of a text


class CiteParameters(IndexParameters):
    """A text of up to a million characters."""

    text: str = Field(
        min_length=1, description="A citation, or a whole text.", examples=["article L. 1237-19 du code du travail"]
    )
    code: str = Field("", max_length=500, description="The code that the text belongs to, if any.", examples=["Code du travail"])
    as_of: Day | None = Field(None, description="Look up the law of this day; of today by default.", examples=["2016-09-30"])


def cite(registry: IndexRegistry, given: CiteParameters) -> ResolvedCitations:
    """Every citation of a text, in order of place, with the documents that it means.

    >>> found = cite(registry, CiteParameters(text="Voir l'article L. 4."))
    >>> [(one.text, one.key, [card.id for card in one.documents]) for one in found.citations]
    [('article L. 4', 'L4', ['lib-4'])]
    """
    if (length := len(given.text)) > MAX_CHARACTERS:
        raise TooLargeError(f"the text has {length:,} characters, {MAX_CHARACTERS:,} are allowed; send it in parts")
    with registry.index(given.index).lease() as leased:
        version = leased.on(given.as_of) if given.as_of else leased
        every = find_citations(given.text)
        found = version.citations.cited(given.text, own_code=given.code, found=every[:MAX_CITATIONS])
        more = max(len(every) - MAX_CITATIONS, 0)
        citations = cited_documents(version, given.text, found)
        return ResolvedCitations(index=version.name, generation=version.generation, citations=citations, more=more)


def document(registry: IndexRegistry, id: str, index: str = "", as_of: datetime.date | None = None) -> DocumentAnswer:
    """A document with its paragraphs and its context, in its version of a day; `NotFoundError` if the index does not have it.

    >>> found = document(registry, "lib-3").document
    >>> found.previous.id, found.next.id, found.paragraphs[0].anchor
    ('lib-2', 'lib-4', 's1')
    """
    with registry.index(index).lease() as version:
        found = version.read(id, as_of)
        shown = version.holding(found, as_of)
        return DocumentAnswer(index=version.name, generation=version.generation, document=_whole(shown, found))


def document_cards(version: IndexVersion, ids: Sequence[str]) -> dict[str, DocumentCard]:
    """Cards by id, in this order, without those that are not there; texts are not read.

    >>> list(document_cards(IndexVersion(snapshot), ["nowhere", "lib-3"]))
    ['lib-3']
    """
    return {document.id: DocumentCard.of(document) for document in version.snapshot.heads(ids)}


def cited_documents(
    version: IndexVersion, text: str, found: Iterable[tuple[Citation, I32]], *, own: str | None = None
) -> list[CitedDocument]:
    """Citations of a text as values; the document that the text is of, if it is one, is not listed as cited by itself."""
    ids = version.snapshot.ids
    itself = ids.ordinal(own) if own is not None else -1
    meant = []
    for citation, numbers in found:
        others = numbers[numbers != itself]
        meant.append((citation, [ids[at] for at in others[:LISTED].tolist()], max(len(others) - LISTED, 0)))
    cards = document_cards(version, [id for _, some, _ in meant for id in some])
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


def etag_of(document: Document) -> str:
    """A digest of everything that a document says; it changes if and only if the document does.

    >>> etag_of(Document("a", text="la loi")) == etag_of(Document("a", text="la Loi"))
    False
    """
    return hashlib.sha256(repr(row_of(document)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def text_paragraphs(text: str, citations: Sequence[CitedDocument] = ()) -> list[DocumentParagraph]:
    r"""The paragraphs of a text with the citations that begin in them, whose spans then count from the paragraph's beginning.

    A paragraph that the text numbers has the anchor ``p64``; the others are counted: ``s1``, ``s2`` …

    >>> [(one.anchor, one.text) for one in text_paragraphs("Facts\n\n1. The lease.\n\nIt ended.\n\n2. Held.")]
    [('s1', 'Facts'), ('p1', '1. The lease.'), ('s2', 'It ended.'), ('p2', '2. Held.')]
    """
    found: list[DocumentParagraph] = []
    number, unnumbered = None, 0
    places = [one.span[0] for one in citations]
    for paragraph in ParagraphMap(text).paragraphs:
        begins = paragraph.number != number  # what follows a number keeps it until the next
        number = paragraph.number
        start = paragraph.start + len(text[paragraph.start : paragraph.end]) - len(text[paragraph.start : paragraph.end].lstrip())
        if start >= paragraph.end:
            continue
        unnumbered += not begins or number is None
        own = citations[bisect_left(places, start) : bisect_left(places, paragraph.end)]
        found.append(
            DocumentParagraph(
                anchor=f"p{number}" if begins and number is not None else f"s{unnumbered}",
                number=number if begins else None,
                span=(start, paragraph.end),
                text=text[start : paragraph.end],
                citations=[_inside(one, start, paragraph.end) for one in own],
            )
        )
    return found


def _inside(cited: CitedDocument, start: int, end: int) -> CitedDocument:
    """A citation as a part of the paragraph that it begins in, cut at its end."""
    first, last = cited.span[0] - start, min(cited.span[1], end) - start
    return cited.model_copy(update={"span": (first, last), "text": cited.text[: last - first]})


def _whole(version: IndexVersion, found: Document) -> WholeDocument:
    snapshot = version.snapshot
    citations = cited_documents(version, found.text, version.citations.cited(found.text, own_code=found.code), own=found.id)
    before, after = neighbours(version, found)
    citing = [snapshot.ids[one] for one in citing_documents(version, snapshot.ids.ordinal(found.id))]
    other = [snapshot.ids[one] for one in versions(version, found)]
    adjacent = [None if one is None else snapshot.ids[one] for one in (before, after)]
    cited = [id for id in found.citations if id != found.id]
    cards = document_cards(version, [*cited, *citing[:CITED_BY_LISTED], *other, *filter(None, adjacent)])
    previous, following = (cards[id] if id else None for id in adjacent)
    return WholeDocument(
        **document_facts(found),
        text=found.text,
        extra=dict(found.extra),
        etag=etag_of(found),
        paragraphs=text_paragraphs(found.text, citations),
        cites=_listed(cards, cited),
        cited_by=_listed(cards, citing[:CITED_BY_LISTED]),
        cited_by_count=len(citing),
        previous=previous,
        next=following,
        versions=_listed(cards, other),
    )


def _listed(cards: dict[str, DocumentCard], ids: Sequence[str]) -> list[DocumentCard]:
    return [cards[id] for id in dict.fromkeys(ids) if id in cards]
