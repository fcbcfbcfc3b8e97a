"""The reference of the HTTP API for readers: ``/docs``, made from the OpenAPI document without scripts of other sites."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.api_reference import ApiReference
from lexfuse.web.page_parameters import accepts
from lexfuse.web.renderer import page

router = APIRouter(include_in_schema=False)


@router.get("/docs", dependencies=[accepts()])
async def api_reference(request: Request) -> HTMLResponse:
    """Every endpoint, error code and schema."""
    return await page(request, "api_reference.html", reference=ApiReference.of(request.app.openapi()))
