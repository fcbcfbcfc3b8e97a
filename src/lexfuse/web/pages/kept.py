"""The reader's own searches: ``/kept``. The browser keeps them; the server only renders the empty page."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.web.renderer import page
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)


@router.get("/kept", dependencies=[accepts()])
async def kept_page(request: Request) -> HTMLResponse:
    """Saved questions and the history, which a script reads from the storage of the browser."""
    return await page(request, "kept.html")
