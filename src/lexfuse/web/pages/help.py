"""The help page, and ``/docs``: the reference of the HTTP API, made from the OpenAPI document without scripts of other sites."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.api_reference import ApiReference
from lexfuse.web.renderer import page
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)


@router.get("/help", dependencies=[accepts()])
async def help_page(request: Request) -> HTMLResponse:
    """How to search, what the parts mean, and the keys."""
    return await page(request, "help.html")


@router.get("/docs", dependencies=[accepts()])
async def api_reference(request: Request) -> HTMLResponse:
    """Every endpoint, error code and schema."""
    return await page(request, "api_reference.html", reference=ApiReference.of(request.app.openapi()))
