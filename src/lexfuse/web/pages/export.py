"""Results of the current search as a file."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.service.operations.export import ResultFormat, export_results
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.routes.responses import download, service_of
from lexfuse.web.search_state import SEARCH, SearchState, accepts

router = APIRouter(include_in_schema=False)

_OWN = ("format", "language", "k")


class ExportParameters(SearchQuery):
    """A search whose results are saved; a file may have more of them than a page."""

    k: int = Field(100, ge=1, le=1000)
    format: ResultFormat = ResultFormat.CSV


@router.get("/export", dependencies=[accepts(*_OWN, *SEARCH)])
async def export(request: Request) -> Response:
    """The first results of a search, 100 by default."""
    service, given = service_of(request), request.query_params
    own = {name: given[name] for name in _OWN if name in given}
    wanted = SearchState.of(given).but(cursor="").request(ExportParameters, **own)
    page = await service.answer(search, wanted)
    return download(await service.run(export_results, page, wanted.format))
