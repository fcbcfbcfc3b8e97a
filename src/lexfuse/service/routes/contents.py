"""``/v1/contents``: the table of contents."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from lexfuse.service.operations.contents import ContentsParameters, contents
from lexfuse.service.routes.responses import answered
from lexfuse.service.schemas.contents import ContentsPage

router = APIRouter(prefix="/v1", tags=["documents"])


@router.get("/contents", operation_id="contents", response_model=ContentsPage, summary="Browse the table of contents")
async def table_of_contents(request: Request, given: Annotated[ContentsParameters, Query()]) -> Response:
    """A section of the table of contents: sections below it, its documents and, if wanted, all of its texts."""
    return await answered(request, contents, given)
