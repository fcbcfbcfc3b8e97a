"""Why a document has its rank: ``/why/{id}``; by citation, found or not: ``/why?cite=``."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.operations.explain import ExplainParameters, explain
from lexfuse.service.routes.responses import service_of
from lexfuse.web.renderer import PART_HEADER, page
from lexfuse.web.search_state import SEARCH, SearchState, accepts

router = APIRouter(include_in_schema=False)


@router.get("/why/{name:path}", dependencies=[accepts(*SEARCH)])
async def why_page(request: Request, name: str) -> HTMLResponse:
    """The explanation of a document by its id."""
    return await _explained(request, name)


@router.get("/why", dependencies=[accepts("cite", *SEARCH)])
async def why_not_page(request: Request, cite: str = "") -> HTMLResponse:
    """The explanation of a document by a citation or its id, whether it is found or not."""
    return await _explained(request, cite.strip())


async def _explained(request: Request, name: str) -> HTMLResponse:
    state = SearchState.of(request.query_params)
    explained = await service_of(request).answer(explain, state.request(ExplainParameters, document=name))
    alone = request.headers.get(PART_HEADER, "") != "why"
    return await page(request, "why.html", parts={"why": "_why.html"}, explained=explained, state=state, alone=alone)
