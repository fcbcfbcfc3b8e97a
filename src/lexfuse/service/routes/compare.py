"""``/v1/compare``: the results of two or three profiles side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.service.operations.compare import FEWEST, MOST, CompareRequest, compare
from lexfuse.service.operations.search import MOST_RESULTS
from lexfuse.service.routes.parameters import FilterParameters, Question, answered_by, check_question, service_of
from lexfuse.service.schemas.comparison import ProfileComparison

router = APIRouter(prefix="/v1", tags=["search"])

ProfileName = Annotated[str, Field(min_length=1, max_length=200)]


class CompareParameters(FilterParameters):
    """A question, and the profiles to answer it with."""

    query: Question
    profiles: list[ProfileName] = Field(
        min_length=FEWEST, max_length=MOST, description="Two or three different profiles.", examples=[["bm25", "hybrid"]]
    )
    k: int = Field(10, ge=1, le=MOST_RESULTS, description="Results of each profile.", examples=[10])

    def request(self) -> CompareRequest:
        """The same for the operation."""
        return CompareRequest(
            query=self.query, profiles=tuple(self.profiles), index=self.index, k=self.k, filters=tuple(self.filters),
            as_of=self.day, language=self.language,
        )  # fmt: skip


@router.get("/compare", operation_id="compare", response_model=ProfileComparison, summary="Compare profiles")
async def compare_profiles(request: Request, given: Annotated[CompareParameters, Query()]) -> Response:
    """The results of each profile, and what moved, appeared or disappeared relative to the first."""
    service = service_of(request)
    check_question(service.settings, given.query)
    return await answered_by(service, compare, service.library, given.request())
