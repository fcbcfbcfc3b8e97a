"""Results of the current search as a file."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from lexfuse.errors import ConfigError
from lexfuse.search.hits import SortOrder
from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.export import Export, ResultFormat, export_results
from lexfuse.service.operations.search import SearchRequest, search
from lexfuse.service.routes.parameters import checked_question

router = APIRouter(include_in_schema=False)

USUAL, MOST = 100, 1000


@router.get("/export")
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
    """The first results of a search, 100 unless more are asked for."""
    service: ServiceContext = request.app.state.service
    wanted = format_of(format)
    if sort not in ("", *SortOrder):
        raise ConfigError(f"sort must be one of {', '.join(SortOrder)}; got {sort[:40]!r}")
    ask = SearchRequest(
        checked_question(service, q), index, profile, k, filters=tuple(filter or ()), as_of=as_of, language=language,
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


def download(export: Export) -> Response:
    """A file that the browser keeps and does not show; its name is one of ours, so nothing of a question is in it.

    >>> download(Export("a", "text/plain", "results.txt")).headers["content-disposition"]
    'attachment; filename="results.txt"'
    """
    return Response(export.text.encode("utf-8", "replace"), media_type=export.media_type, headers=export.headers)
