"""``/v1/compare``: two or three profiles side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.service.operations.compare import FEWEST, MOST, CompareRequest, compare
from lexfuse.service.operations.search import MOST_RESULTS
from lexfuse.service.routes.parameters import (
    AsOf,
    Filters,
    IndexName,
    Language,
    Question,
    answered_by,
    checked_question,
    day_text,
    service_of,
)
from lexfuse.service.schemas.comparison import ProfileComparison

router = APIRouter(prefix="/v1", tags=["search"])

Name = Annotated[str, Field(min_length=1, max_length=200)]


@router.get("/compare", response_model=ProfileComparison, summary="Compare profiles")
async def compared(
    request: Request,
    q: Question,
    profile: Annotated[
        list[Name],
        Query(min_length=FEWEST, max_length=MOST, description="Two or three different profiles.", examples=[["bm25", "hybrid"]]),
    ],
    index: IndexName = "",
    k: Annotated[int, Query(ge=1, le=MOST_RESULTS, description="Results of each.", examples=[10])] = 10,
    filter: Filters = None,
    as_of: AsOf = None,
    language: Language = "",
) -> Response:
    """The results of each profile, and what moved, is new or is lost beside the first."""
    service = service_of(request)
    question = checked_question(service, q)
    ask = CompareRequest(question, tuple(profile), index, k, tuple(filter or ()), day_text(as_of), language)
    return await answered_by(service, compare, service.library, ask)
