"""Why a document has its rank: ``/why/{id}``; by citation, found or not: ``/why?cite=``."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.explain import ExplainRequest, explain
from lexfuse.service.routes.parameters import check_question
from lexfuse.web.page_parameters import SEARCH, accepts
from lexfuse.web.renderer import PART_HEADER, page
from lexfuse.web.search_state import SearchState

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
    service: ServiceContext = request.app.state.service
    state = SearchState.of(request.query_params)
    check_question(service.settings, state.query)
    ask = ExplainRequest(state.query, name, state.index, state.profile, state.filters, state.as_of)
    explained = await service.run(explain, service.library, ask)
    alone = request.headers.get(PART_HEADER, "") != "why"
    return await page(request, "why.html", parts={"why": "_why.html"}, explained=explained, state=state, alone=alone)
