"""A document to read: ``/documents/{id}``, with the question that it was found by, if there is one."""

from __future__ import annotations

import datetime
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.data.document import DocumentKind
from lexfuse.errors import UnknownDocumentError
from lexfuse.search.contents.table_of_contents import section_path
from lexfuse.service.operations.document_marks import MarkParameters, document_marks
from lexfuse.service.operations.documents import document
from lexfuse.service.operations.history import HistoryParameters, history
from lexfuse.service.parameters import check_length
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.routes.responses import service_of
from lexfuse.service.schemas.document import DocumentAnswer, DocumentCard, WholeDocument
from lexfuse.web.law_text import LawBlock, body_of, found_places, law_blocks
from lexfuse.web.renderer import browse_url, page
from lexfuse.web.search_state import SEARCH, SearchState, accepts
from lexfuse.web.timeline import timeline_of

router = APIRouter(include_in_schema=False)

LISTED = 25  # documents that cite it; some articles are cited by thousands
PLACES = 30  # paragraphs with words that were searched for, as links
FEWEST_HEADINGS = 3  # of a plan
_OWN = ("rank", "find")


@router.get("/documents/{name:path}", dependencies=[accepts(*SEARCH, *_OWN)])
async def document_page(request: Request, name: str) -> HTMLResponse:
    """The text with anchors and links, the words of the question, and the context of the document."""
    service, state = service_of(request), SearchState.of(request.query_params).but()
    own = {name: value for name in _OWN if (value := request.query_params.get(name, "").strip())}
    asked = state.request(MarkParameters, document=name, **own)
    check_length(asked, service.settings)
    answer, in_force = await service.run(_read, service.registry, asked)
    marks = await service.run(document_marks, service.registry, asked)
    versions = await service.run(history, service.registry, HistoryParameters(document=name, index=asked.index))
    found, places = answer.document, found_places(answer.document.paragraphs, marks)
    blocks = law_blocks(found.paragraphs)
    values: dict[str, Any] = {
        "document": found,
        "index_name": state.index,
        "state": state,
        "marks": marks,
        "find": own.get("find", ""),
        "rank": own.get("rank", ""),
        "places": places[:PLACES],
        "more_places": len(places) - len(places[:PLACES]),
        "not_in_force": None if in_force else asked.as_of,
        "blocks": blocks,
        "plan": plan_of(found, blocks),
        "timeline": timeline_of(found, versions.versions, state),
        "crumbs": crumbs_of(found, answer.index),
        "lists": lists_of(found),
        "source_url": source_url(found),
    }
    return await page(request, "document.html", body_of=body_of, **values)


def _read(registry: IndexRegistry, asked: MarkParameters) -> tuple[DocumentAnswer, bool]:
    """The document in its version of the day of the question; where it was not in force then, as it is now."""
    day: datetime.date | None = asked.as_of
    if day is not None:
        with suppress(UnknownDocumentError):
            return document(registry, asked.document, asked.index, day), True
    return document(registry, asked.document, asked.index), day is None


def plan_of(found: WholeDocument, blocks: list[LawBlock]) -> list[LawBlock]:
    """The headings inside the text of a decision, if it has several; the articles of a code have none.

    >>> plan_of(WholeDocument(id="a", text="", etag="", kind="decision"), [])
    []
    """
    headings = [block for block in blocks if block.rubric == 1] if found.kind != DocumentKind.STATUTE else []
    return headings if len(headings) >= FEWEST_HEADINGS else []


def crumbs_of(found: WholeDocument, index: str) -> list[tuple[str, str]]:
    """The sections that a document is in, with their addresses in the table of contents.

    >>> crumbs_of(WholeDocument(id="a", text="", etag="", code="Code du travail", headings=["Livre II."]), "law")[1]
    ('Livre II', '/browse?index=law&path=Code+du+travail&path=Livre+II.')
    """
    year = str(found.date.year) if found.date else ""
    judgment = found.identifiers[0] if found.kind == "paragraph" and found.identifiers else ""
    path = section_path(found.code, found.headings, found.court, year, judgment)
    return [(title.strip(". "), browse_url(path[:at], index)) for at, title in enumerate(path, 1)]


def lists_of(found: WholeDocument) -> list[tuple[str, list[DocumentCard], int]]:
    """The lists next to a document that are not empty: name, cards, and the number of further documents.

    >>> lists_of(WholeDocument(id="a", text="", etag="", cited_by=[DocumentCard(id="b")], cited_by_count=3))
    [('cited_by', [DocumentCard(id='b', ...)], 2)]
    """
    all_lists = [
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
