"""What changed between two versions of a document, word by word: ``/changes/{id}``."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.operations.documents import document
from lexfuse.service.operations.history import DiffParameters, VersionPair, diff, version_pair
from lexfuse.service.parameters import page_parameters
from lexfuse.service.routes.responses import service_of
from lexfuse.web.renderer import page
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)


@router.get("/changes/{name:path}", dependencies=[accepts("index", "before", "after", "other")])
async def changes_page(request: Request, name: str) -> HTMLResponse:
    """The versions of two days, or of two ids, as one text with what was removed and added."""
    service, given = service_of(request), request.query_params
    index = given.get("index", "")
    if other := given.get("other", ""):
        pair = page_parameters(VersionPair, {"document": name, "other": other, "index": index})
        found = await service.answer(version_pair, pair)
    else:
        days = {key: given.get(key, "") for key in ("before", "after")}
        found = await service.answer(diff, page_parameters(DiffParameters, {"document": name, "index": index, **days}))
    read = await service.run(document, service.registry, found.id, index)
    values: dict[str, Any] = {"document": read.document, "index_name": index, "difference": found}
    return await page(request, "changes.html", **values)
