"""Results of the current search as a file, and its first ones as a feed."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.service.operations.export import ResultFormat, export_results
from lexfuse.service.operations.feed import MEDIA_TYPE, search_feed
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.parameters import check_length
from lexfuse.service.routes.responses import download, service_of
from lexfuse.web.renderer import site_of
from lexfuse.web.search_state import SEARCH, SearchState, accepts

router = APIRouter(include_in_schema=False)

_OWN = ("format", "language", "k")


class ExportParameters(SearchQuery):
    """A search whose results are saved; a file may have more of them than a page."""

    k: int = Field(100, ge=1, le=1000)
    format: ResultFormat = ResultFormat.CSV


@router.get("/feed", dependencies=[accepts(*SEARCH)])
async def feed(request: Request) -> Response:
    """The first ten results as an Atom feed, which announces new and changed documents among them."""
    service, state, site = service_of(request), SearchState.of(request.query_params).but(), site_of(request)
    asked = state.request(SearchQuery)
    check_length(asked, service.settings)
    made = await service.run(search_feed, service.registry, asked, site, site + state.url("/feed"), state.query)
    return Response(made, media_type=MEDIA_TYPE)


@router.get("/export", dependencies=[accepts(*_OWN, *SEARCH)])
async def export(request: Request) -> Response:
    """The first results of a search, 100 by default."""
    service, given = service_of(request), request.query_params
    own = {name: given[name] for name in _OWN if name in given}
    wanted = SearchState.of(given).but(cursor="").request(ExportParameters, **own)
    page = await service.answer(search, wanted)
    return download(await service.run(export_results, page, wanted.format, site_of(request)))
