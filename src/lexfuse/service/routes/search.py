"""``/v1/search``: one page of results."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.search.hits import SortOrder
from lexfuse.service.operations.search import MOST_RESULTS, SearchRequest, search
from lexfuse.service.routes.parameters import (
    AsOf,
    Filters,
    IndexName,
    Language,
    ProfileName,
    Question,
    QuestionParameters,
    answered_by,
    checked_question,
    day_text,
    service_of,
)
from lexfuse.service.schemas.search import SearchPage

router = APIRouter(prefix="/v1", tags=["search"])

_CURSOR = "next_cursor of the page before, with everything else as it was."
_SORT = "By relevance, or the best 100 by their dates."
_FACETS = "Count codes, courts, kinds, years and languages of the candidates."


class SearchBody(QuestionParameters):
    """A question as a body: for questions too long for an address.

    >>> SearchBody(query="préavis").k
    10
    """

    query: str = Field(min_length=1, description="The question, in any words.", examples=["durée du préavis de démission"])
    k: int = Field(10, ge=1, le=MOST_RESULTS, description="Results on a page.")
    cursor: str = Field("", max_length=200, description=_CURSOR)
    sort: SortOrder = Field(SortOrder.RELEVANCE, description=_SORT)
    facets: bool = Field(False, strict=True, description=_FACETS)


@router.get("/search", response_model=SearchPage, summary="Search")
async def searched(
    request: Request,
    q: Question,
    index: IndexName = "",
    profile: ProfileName = "",
    k: Annotated[int, Query(ge=1, le=MOST_RESULTS, description="Results on a page.", examples=[10])] = 10,
    cursor: Annotated[str, Query(max_length=200, description=_CURSOR)] = "",
    filter: Filters = None,
    as_of: AsOf = None,
    language: Language = "",
    sort: Annotated[SortOrder, Query(description=_SORT)] = SortOrder.RELEVANCE,
    facets: Annotated[bool, Query(description=_FACETS)] = False,
) -> Response:
    """One page of results: documents that the question cites first, then the best matches, each with its snippet."""
    service = service_of(request)
    question = checked_question(service, q)
    ask = SearchRequest(question, index, profile, k, cursor, tuple(filter or ()), day_text(as_of), language, sort, facets)
    return await answered_by(service, search, service.library, ask)


@router.post("/search", response_model=SearchPage, summary="Search, with a body")
async def searched_by_body(request: Request, body: SearchBody) -> Response:
    """The same, with the question in the body: it then stands in no address, and in no log of a proxy."""
    service = service_of(request)
    question = checked_question(service, body.query)
    ask = SearchRequest(
        question,
        body.index,
        body.profile,
        body.k,
        body.cursor,
        tuple(body.filters),
        body.day,
        body.language,
        body.sort,
        body.facets,
    )
    return await answered_by(service, search, service.library, ask)
