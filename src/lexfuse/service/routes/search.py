"""Questions to the indexes: ``/v1/search``, ``/v1/explain``, ``/v1/compare``, ``/v1/suggest``, ``/v1/cite``, ``/v1/profiles``."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from lexfuse.service.operations.compare import CompareParameters, compare
from lexfuse.service.operations.documents import CiteParameters, cite
from lexfuse.service.operations.explain import DOCUMENT, ExplainParameters, ExplainQuery, explain
from lexfuse.service.operations.index_list import index_list
from lexfuse.service.operations.search import SearchParameters, SearchQuery, search
from lexfuse.service.operations.suggest import SuggestQuery, suggest
from lexfuse.service.routes.query_route import QueryRoute
from lexfuse.service.routes.responses import answered, json_response, service_of
from lexfuse.service.schemas.document import ResolvedCitations
from lexfuse.service.schemas.explanation import ExplainResponse
from lexfuse.service.schemas.search import IndexList, ProfileComparison, SearchPage, SuggestionList

router = APIRouter(prefix="/v1", tags=["search"])
citations = APIRouter(prefix="/v1", tags=["citations"])

_PROBLEMS: dict[int | str, dict[str, Any]] = {410: {}}


async def search_by_get(request: Request, given: Annotated[SearchQuery, Query()]) -> Response:
    """One page of results: documents that the question cites, then the best matches, each with a snippet."""
    return await answered(request, search, given)


router.add_api_route(
    "/search", search_by_get, operation_id="search", response_model=SearchPage, summary="Search", responses=_PROBLEMS,
    route_class_override=QueryRoute,
)  # fmt: skip


@router.post("/search", operation_id="search_post", response_model=SearchPage, summary="Search, with a body", responses=_PROBLEMS)
async def search_by_post(request: Request, given: SearchParameters) -> Response:
    """The same with the parameters in the body, so that the question is in no address and in no proxy log."""
    return await answered(request, search, given)


@router.get(
    "/explain/{document:path}", operation_id="explain", response_model=ExplainResponse, summary="Explain a rank, or an absence"
)
async def explain_document(
    request: Request, document: Annotated[str, Path(**DOCUMENT)], given: Annotated[ExplainQuery, Query()]
) -> Response:
    """Score, rank, normalised value, weight and contribution of every source for a document, found or not."""
    return await answered(request, explain, ExplainParameters(**dict(given), document=document))


@router.get("/compare", operation_id="compare", response_model=ProfileComparison, summary="Compare profiles")
async def compare_profiles(request: Request, given: Annotated[CompareParameters, Query()]) -> Response:
    """The results of each profile, and what moved, appeared or disappeared relative to the first."""
    return await answered(request, compare, given)


@router.get("/suggest", operation_id="suggest", response_model=SuggestionList, summary="Complete a question")
async def suggest_by_get(request: Request, given: Annotated[SuggestQuery, Query()]) -> Response:
    """Completions of a question that is being typed: articles, frequent questions, headings and words of the index."""
    return await answered(request, suggest, given)


@router.get("/profiles", operation_id="list_profiles", response_model=IndexList, summary="List indexes and profiles")
async def list_profiles(request: Request) -> Response:
    """The indexes with their sizes and versions, and the profiles of each."""
    service = service_of(request)
    return json_response(await service.run(index_list, service.registry))


@citations.get("/cite", operation_id="cite", response_model=ResolvedCitations, summary="Resolve a citation")
async def cite_by_get(request: Request, given: Annotated[CiteParameters, Query()]) -> Response:
    """Every citation in a text, in any spelling, with the documents of the index it refers to."""
    return await answered(request, cite, given)


@citations.post(
    "/cite",
    operation_id="cite_post",
    response_model=ResolvedCitations,
    summary="Resolve the citations of a whole text",
)
async def cite_by_post(request: Request, given: CiteParameters) -> Response:
    """The same for a whole text: its first 5,000 citations are resolved, and `more` counts the others."""
    return await answered(request, cite, given)
