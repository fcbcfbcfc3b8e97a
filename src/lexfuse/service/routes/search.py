"""``/v1/search``: one page of results."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.search.hits import SortOrder
from lexfuse.service.operations.search import MOST_RESULTS, SearchRequest, search
from lexfuse.service.routes.parameters import Question, QuestionParameters, answered_by, check_question, service_of
from lexfuse.service.schemas.search import SearchPage

router = APIRouter(prefix="/v1", tags=["search"])

_FACETS = "Count codes, courts, kinds, years and languages of the candidates."
_PROBLEMS: dict[int | str, dict[str, Any]] = {410: {}}


class SearchParameters(QuestionParameters):
    """A question and how to answer it."""

    query: Question
    k: int = Field(10, ge=1, le=MOST_RESULTS, description="Results per page.", examples=[10])
    cursor: str = Field(
        "", max_length=200, description="next_cursor of the previous page; all other parameters as for that page."
    )
    sort: SortOrder = Field(SortOrder.RELEVANCE, description="By relevance, or the best 100 by date.")
    facets: bool = Field(False, strict=True, description=_FACETS)

    def request(self) -> SearchRequest:
        """The same for the operation.

        >>> SearchParameters(query="préavis").request().k
        10
        """
        return SearchRequest(
            query=self.query, index=self.index, profile=self.profile, k=self.k, cursor=self.cursor, filters=tuple(self.filters),
            as_of=self.day, language=self.language, sort=self.sort, facets=self.facets,
        )  # fmt: skip


class SearchQuery(SearchParameters):
    """The same in a query string, where true and false are words."""

    facets: bool = Field(False, description=_FACETS)


@router.get("/search", operation_id="search", response_model=SearchPage, summary="Search", responses=_PROBLEMS)
async def search_by_get(request: Request, given: Annotated[SearchQuery, Query()]) -> Response:
    """One page of results: documents that the question cites, then the best matches, each with a snippet."""
    return await _answered(request, given)


@router.post("/search", operation_id="search_post", response_model=SearchPage, summary="Search, with a body", responses=_PROBLEMS)
async def search_by_post(request: Request, given: SearchParameters) -> Response:
    """The same with the parameters in the body, so that the question is in no address and in no proxy log."""
    return await _answered(request, given)


async def _answered(request: Request, given: SearchParameters) -> Response:
    service = service_of(request)
    check_question(service.settings, given.query)
    return await answered_by(service, search, service.library, given.request())
