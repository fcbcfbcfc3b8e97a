"""A document to read: ``/documents/{id}``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.operations.documents import document
from lexfuse.service.routes.responses import service_of
from lexfuse.service.schemas.document import DocumentCard, DocumentParagraph, WholeDocument
from lexfuse.web.highlights import TextSegment, segments_of
from lexfuse.web.renderer import page
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)

_WORD = re.compile(r"\w")
_AFTER = re.compile(r"\b[\s.):\]\\*–-]*")
LISTED = 25  # documents that cite it; some articles are cited by thousands


@router.get("/documents/{name:path}", dependencies=[accepts("index")])
async def document_page(request: Request, name: str, index: str = "") -> HTMLResponse:
    """The text with anchors and links, and the context of the document."""
    service = service_of(request)
    found = (await service.run(document, service.registry, name, index)).document
    values: dict[str, Any] = {"document": found, "index_name": index, "lists": lists_of(found), "source_url": source_url(found)}
    return await page(request, "document.html", body_of=body_of, **values)


def body_of(paragraph: DocumentParagraph) -> list[TextSegment]:
    """The text of a paragraph in pieces, without its number, which is shown in the margin.

    >>> [piece.text for piece in body_of(DocumentParagraph(anchor="p64", number="64", span=(0, 12), text="64. The Court"))]
    ['The Court']
    """
    pieces = segments_of(paragraph.text, links=paragraph.citations)
    if paragraph.number and pieces and not pieces[0].target:
        pieces[0] = replace(pieces[0], text=_without(paragraph.number, pieces[0].text))
    return [piece for piece in pieces if piece.text]


def _without(number: str, text: str) -> str:
    """A text without its leading number and the punctuation around it, or the text itself."""
    at = text.find(number)
    rest = _AFTER.match(text, at + len(number)) if at >= 0 and not _WORD.search(text, 0, at) else None
    return text[rest.end() :] if rest else text


def lists_of(found: WholeDocument) -> list[tuple[str, list[DocumentCard], int]]:
    """The lists next to a document that are not empty: name, cards, and the number of further documents.

    >>> lists_of(WholeDocument(id="a", text="", etag="", cited_by=[DocumentCard(id="b")], cited_by_count=3))
    [('cited_by', [DocumentCard(id='b', ...)], 2)]
    """
    all_lists = [
        ("versions", found.versions, len(found.versions)),
        ("cites", found.cites, len(found.cites)),
        ("cited_by", found.cited_by, found.cited_by_count),
    ]
    return [(key, cards[:LISTED], count - len(cards[:LISTED])) for key, cards, count in all_lists if cards]


def source_url(found: WholeDocument) -> str:
    """The web address of the source of a document, if it has one.

    >>> source_url(WholeDocument(id="a", text="", etag="", extra={"url": "javascript:alert(1)"}))
    ''
    """
    address = found.extra.get("url")
    try:
        fine = isinstance(address, str) and urlsplit(address).scheme in ("http", "https")
    except ValueError:
        fine = False
    return str(address) if fine else ""
