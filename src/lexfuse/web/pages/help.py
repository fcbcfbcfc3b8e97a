"""The help page."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.web.page_parameters import accepts
from lexfuse.web.renderer import page

router = APIRouter(include_in_schema=False)


@router.get("/help", dependencies=[accepts()])
async def help_page(request: Request) -> HTMLResponse:
    """How to search, what the parts mean, and the keys."""
    return await page(request, "help.html")
