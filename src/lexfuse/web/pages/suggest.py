"""The suggestions below the search field, as a part of the search page: ``/suggest``."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.operations.suggest import SuggestQuery, suggest
from lexfuse.service.parameters import page_parameters
from lexfuse.service.routes.responses import service_of
from lexfuse.web.renderer import page
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)


@router.get("/suggest", dependencies=[accepts("q", "index")])
async def suggest_part(request: Request) -> HTMLResponse:
    """The items of the list; the question is typed in the field, so a page without scripts does not need them."""
    given = {"query": request.query_params.get("q", ""), "index": request.query_params.get("index", "")}
    found = await service_of(request).answer(suggest, page_parameters(SuggestQuery, given))
    return await page(request, "suggest_part.html", found=found)
