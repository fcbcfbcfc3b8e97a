"""``/v1/search``: one page of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.errors import ConfigError
from lexfuse.search.hits import SortOrder
from lexfuse.search.pipeline import DEPTH
from lexfuse.search.spec.channel_spec import ChannelSpec
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.service.operations.search import MOST_RESULTS, SearchRequest, search
from lexfuse.service.routes.parameters import Question, QuestionParameters, answered_by, check_question, service_of
from lexfuse.service.schemas.request_parameters import refuse_unknown
from lexfuse.service.schemas.search import SearchPage

router = APIRouter(prefix="/v1", tags=["search"])

MAX_CHANNELS = 8
_SPEC_KEYS = ("version", "channel", "fusion", "depth")
_SPEC = "A search as data instead of a profile, with the keys channel, fusion and depth of a profile."
_EXAMPLE = {"channel": [{"name": "bm25", "k1": 0.9}, {"name": "tfidf"}], "fusion": {"method": "rrf"}, "depth": 100}
_FACETS = "Count codes, courts, kinds, years and languages of the candidates."
_PROBLEMS: dict[int | str, dict[str, Any]] = {410: {}}


class SearchQuery(QuestionParameters):
    """A question and how to answer it, in a query string."""

    query: Question
    k: int = Field(10, ge=1, le=MOST_RESULTS, description="Results per page.", examples=[10])
    cursor: str = Field(
        "", max_length=200, description="next_cursor of the previous page; all other parameters as for that page."
    )
    sort: SortOrder = Field(SortOrder.RELEVANCE, description="By relevance, or the best 100 by date.")
    facets: bool = Field(False, description=_FACETS)

    def request(self) -> SearchRequest:
        """The same for the operation.

        >>> SearchQuery(query="préavis").request().k
        10
        """
        return SearchRequest(
            query=self.query, index=self.index, profile=self.profile, k=self.k, cursor=self.cursor, filters=tuple(self.filters),
            as_of=self.day, language=self.language, sort=self.sort, facets=self.facets,
        )  # fmt: skip


class SearchParameters(SearchQuery):
    """A question and how to answer it."""

    facets: bool = Field(False, strict=True, description=_FACETS)
    spec: dict[str, Any] | None = Field(None, description=_SPEC, examples=[_EXAMPLE])

    def request(self) -> SearchRequest:
        """The same for the operation."""
        found = super().request()
        return found if self.spec is None else replace(found, spec=inline_spec(self.spec))


def inline_spec(values: Mapping[str, Any]) -> SearchSpec:
    """The search that a client describes; models that it names would be files of the server, so they are refused.

    >>> inline_spec({"channel": [{"name": "bm25", "k1": 0.9}]}).channels[0].options
    {'k1': 0.9}
    >>> inline_spec({"channel": [{"name": "bm25"}], "rerank": [{"method": "cross-encoder", "model": "/srv/model"}]})
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a spec in a request has no rerankers or classes; for these use a profile of the service
    """
    if "rerank" in values or "class" in values:
        raise ConfigError("a spec in a request has no rerankers or classes; for these use a profile of the service")
    refuse_unknown(values, _SPEC_KEYS)
    spec = SearchSpec.from_json(values)
    if not all(isinstance(channel, ChannelSpec) for channel in spec.channels):
        raise ConfigError("a spec in a request has channels of the index only; for cross-encoders use a profile of the service")
    if len(spec.channels) > MAX_CHANNELS or spec.depth > DEPTH:
        got = f"got {len(spec.channels):,} channels and depth {spec.depth:,}"
        raise ConfigError(f"a spec in a request has up to {MAX_CHANNELS} channels and depth {DEPTH:,}; {got}")
    return spec


@router.get("/search", operation_id="search", response_model=SearchPage, summary="Search", responses=_PROBLEMS)
async def search_by_get(request: Request, given: Annotated[SearchQuery, Query()]) -> Response:
    """One page of results: documents that the question cites, then the best matches, each with a snippet."""
    return await _answered(request, given)


@router.post("/search", operation_id="search_post", response_model=SearchPage, summary="Search, with a body", responses=_PROBLEMS)
async def search_by_post(request: Request, given: SearchParameters) -> Response:
    """The same with the parameters in the body, so that the question is in no address and in no proxy log."""
    return await _answered(request, given)


async def _answered(request: Request, given: SearchQuery) -> Response:
    service = service_of(request)
    check_question(service.settings, given.query)
    return await answered_by(service, search, service.library, given.request())
