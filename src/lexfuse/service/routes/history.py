"""``/v1/history`` and ``/v1/diff``: documents in time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from lexfuse.service.operations.explain import DOCUMENT
from lexfuse.service.operations.history import DiffParameters, DiffQuery, HistoryParameters, diff, history
from lexfuse.service.parameters import IndexParameters
from lexfuse.service.routes.responses import answered
from lexfuse.service.schemas.history import DocumentDifference, DocumentHistory

router = APIRouter(prefix="/v1", tags=["documents"])


@router.get("/history/{document:path}", operation_id="history", response_model=DocumentHistory, summary="List versions")
async def document_versions(
    request: Request, document: Annotated[str, Path(**DOCUMENT)], given: Annotated[IndexParameters, Query()]
) -> Response:
    """All versions of a document with their periods and texts, the oldest first."""
    return await answered(request, history, HistoryParameters(**dict(given), document=document))


@router.get("/diff/{document:path}", operation_id="diff", response_model=DocumentDifference, summary="Compare two days")
async def document_difference(
    request: Request, document: Annotated[str, Path(**DOCUMENT)], given: Annotated[DiffQuery, Query()]
) -> Response:
    """What changed in a document from one day to another, word by word."""
    return await answered(request, diff, DiffParameters(**dict(given), document=document))
