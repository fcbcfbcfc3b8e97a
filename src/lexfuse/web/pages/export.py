"""Results of the current search as a file."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from lexfuse.errors import ConfigError
from lexfuse.search.hits import SortOrder
from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.export import ResultFormat, export_results
from lexfuse.service.operations.search import SearchRequest, search
from lexfuse.service.routes.parameters import check_question, download
from lexfuse.web.page_parameters import SEARCH, accepts

router = APIRouter(include_in_schema=False)

USUAL, MOST = 100, 1000


@router.get("/export", dependencies=[accepts("format", "language", "k", *SEARCH)])
async def export(
    request: Request,
    format: str = "csv",
    q: str = "",
    index: str = "",
    profile: str = "",
    filter: Annotated[list[str] | None, Query()] = None,
    as_of: str = "",
    sort: str = "",
    language: str = "",
    k: int = USUAL,
) -> Response:
    """The first results of a search, 100 by default."""
    service: ServiceContext = request.app.state.service
    wanted = format_of(format)
    if sort not in ("", *SortOrder):
        raise ConfigError(f"sort must be one of {', '.join(SortOrder)}; got {sort[:40]!r}")
    ask = SearchRequest(
        check_question(service.settings, q), index, profile, k, filters=tuple(filter or ()), as_of=as_of, language=language,
        sort=SortOrder(sort or SortOrder.RELEVANCE), most=MOST,
    )  # fmt: skip
    page = await service.run(search, service.library, ask)
    return download(await service.run(export_results, page, wanted))


def format_of(name: str) -> ResultFormat:
    """The format of a name.

    >>> format_of("xls")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: format must be one of csv, json, trec, bibtex, ris; got 'xls'
    """
    if name not in set(ResultFormat):
        raise ConfigError(f"format must be one of {', '.join(ResultFormat)}; got {name[:40]!r}")
    return ResultFormat(name)
