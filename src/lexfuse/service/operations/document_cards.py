"""Documents as cards: what a list shows of them, read without their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexfuse.data.document import Document
from lexfuse.search.index_version import IndexVersion
from lexfuse.service.schemas.document import DocumentCard


def facts_of(document: Document) -> dict[str, Any]:
    """What a card says of a document.

    >>> facts_of(Document("a", number="L1"))["number"]
    'L1'
    """
    return {
        "id": document.id,
        "title": document.title,
        "kind": document.kind.value,
        "language": document.language,
        "code": document.code,
        "number": document.number,
        "headings": list(document.headings),
        "court": document.court,
        "date": document.date,
        "valid_from": document.valid_from,
        "valid_to": document.valid_to,
        "status": document.status.value,
        "identifiers": list(document.identifiers),
    }


def card_of(document: Document) -> DocumentCard:
    """A document without its text.

    >>> card_of(Document("a", title="Article 1")).title
    'Article 1'
    """
    return DocumentCard(**facts_of(document))


def cards_of(opened: IndexVersion, ids: Sequence[str]) -> dict[str, DocumentCard]:
    """Cards by id, in this order, without those that are not there.

    >>> list(cards_of(IndexVersion(snapshot), ["nowhere", "lib-3"]))
    ['lib-3']
    """
    return {document.id: card_of(document) for document in opened.snapshot.heads(ids)}
