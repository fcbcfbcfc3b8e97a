"""A document to be read: its paragraphs with anchors, what it cites and what cites it, and what stands around it."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.data.document import Document
from lexfuse.search.document_context import citing_documents, neighbours, versions
from lexfuse.search.index_version import IndexVersion
from lexfuse.service.operations.cite import cited_of
from lexfuse.service.operations.document_cards import cards_of, facts_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import CitedDocument, DocumentAnswer, DocumentCard, DocumentParagraph, WholeDocument
from lexfuse.storage.document_rows import row_of
from lexfuse.text.paragraph_map import ParagraphMap

CITED_BY_LISTED = 100


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """A document by its id.

    >>> DocumentRequest("LEGIARTI000006901112").index
    ''
    """

    id: str
    index: str = ""


def document(library: IndexRegistry, ask: DocumentRequest) -> DocumentAnswer:
    """A document with its paragraphs and everything around it; `NotFoundError` if the index does not have it.

    >>> import tempfile
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.service.registry import IndexPlace
    >>> articles = [Document(f"a{n}", number=f"L{n}", code="Code du travail", text="Voir l'article L. 1.") for n in (1, 2)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law", documents=articles).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         found = document(library, DocumentRequest("a2")).document
    >>> found.previous.id, found.next, [(one.anchor, one.citations[0].documents[0].id) for one in found.paragraphs]
    ('a1', None, [('s1', 'a1')])
    """
    with library.shelf(ask.index).lease() as opened:
        found = opened.snapshot.document(ask.id)
        return DocumentAnswer(index=opened.name, generation=opened.generation, document=_whole(opened, found))


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
    """A citation as a part of the paragraph that it begins in; what of it stands in the next is cut off."""
    first, last = cited.span[0] - start, min(cited.span[1], end) - start
    return cited.model_copy(update={"span": (first, last), "text": cited.text[: last - first]})


def _whole(opened: IndexVersion, found: Document) -> WholeDocument:
    snapshot = opened.snapshot
    citations = cited_of(opened, found.text, opened.citations.cited(found.text, own_code=found.code), own=found.id)
    before, after = neighbours(opened, found)
    citing = [snapshot.ids[one] for one in citing_documents(opened, snapshot.ids.ordinal(found.id))]
    other = [snapshot.ids[one] for one in versions(opened, found)]
    beside = [None if one is None else snapshot.ids[one] for one in (before, after)]
    cited = [id for id in found.citations if id != found.id]
    cards = cards_of(opened, [*cited, *citing[:CITED_BY_LISTED], *other, *filter(None, beside)])
    previous, following = (cards[id] if id else None for id in beside)
    return WholeDocument(
        **facts_of(found),
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
