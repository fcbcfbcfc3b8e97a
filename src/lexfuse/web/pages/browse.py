"""The table of contents to walk through, ``/browse``, and a whole chapter on one page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.operations.contents import ContentsParameters, contents
from lexfuse.service.operations.index_list import index_list
from lexfuse.service.parameters import page_parameters
from lexfuse.service.routes.responses import service_of
from lexfuse.service.schemas.contents import ContentsPage
from lexfuse.web.law_text import NO_MARKS, body_of, law_blocks
from lexfuse.web.pages.search import chosen_index
from lexfuse.web.renderer import browse_url, document_url, page
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)


@router.get("/browse", dependencies=[accepts("index", "path", "whole")])
async def browse_page(request: Request) -> HTMLResponse:
    """A section: what is below it, its documents, or all of its texts."""
    service, given = service_of(request), request.query_params
    indexes = (await service.run(index_list, service.registry)).indexes
    index = chosen_index(indexes, given.get("index", ""))
    path = [part for part in given.getlist("path") if part]
    whole = given.get("whole", "") == "1"

    async def section(path: list[str]) -> ContentsPage:
        asked = page_parameters(ContentsParameters, {"index": index.name, "path": path, "whole": whole})
        return await service.answer(contents, asked)

    shown = await section(path)
    if not path and not shown.documents and len(shown.sections) == 1:  # a corpus of one code begins with its parts
        shown = (await section(shown.sections[0].path)).model_copy(update={"path": []})
    values: dict[str, Any] = {
        "indexes": indexes,
        "index": index,
        "section": shown,
        "whole": whole,
        "whole_url": f"{browse_url(path, index.name)}&{urlencode({'whole': '1'})}",
        "body_of": body_of,
        "law_blocks": law_blocks,
        "none_marked": NO_MARKS,
        "linked": lambda id: document_url(id, index.name),
    }
    return await page(request, "browse.html", **values)
