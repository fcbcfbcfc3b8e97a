"""The start page and the results: ``/``."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.errors import ConfigError, UnknownIndexError
from lexfuse.search.hits import SortOrder
from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.index_list import index_list
from lexfuse.service.operations.search import SearchRequest, search
from lexfuse.service.routes.parameters import check_question
from lexfuse.service.schemas.index_list import IndexCard
from lexfuse.web.filter_chips import chips_of
from lexfuse.web.messages import InterfaceLocale, Messages, messages_of
from lexfuse.web.page_parameters import SEARCH, accepts
from lexfuse.web.pages.feedback import judged_here
from lexfuse.web.renderer import page, reader_of
from lexfuse.web.search_state import SearchState

router = APIRouter(include_in_schema=False)


@router.get("/", dependencies=[accepts(*SEARCH)])
async def search_page(request: Request) -> HTMLResponse:
    """The start page, or the results of a question."""
    service: ServiceContext = request.app.state.service
    state = SearchState.of(request.query_params)
    messages = messages_of(reader_of(request).language)
    indexes = (await service.run(index_list, service.library)).indexes
    index = chosen_index(indexes, state.index)
    values: dict[str, Any] = {"state": state, "indexes": indexes, "index": index, "options": options_of(indexes, index, messages)}
    if not state.query.strip():
        return await page(request, "search.html", parts={"results": "_opening.html"}, **values | {"state": state.but(query="")})
    check_question(service.settings, state.query)
    answer = await service.run(search, service.library, request_of(state))
    values |= {"answer": answer, "chips": chips_of(state, messages), **await judged_here(request, state.query, answer.index)}
    return await page(request, "search.html", parts={"results": "_results.html"}, **values)


def request_of(state: SearchState) -> SearchRequest:
    """The search of a state.

    >>> request_of(SearchState("loi", sort="dearest"))
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: sort must be one of relevance, newest, oldest; got 'dearest'
    """
    if state.sort not in ("", *SortOrder):
        raise ConfigError(f"sort must be one of {', '.join(SortOrder)}; got {state.sort[:40]!r}")
    return SearchRequest(
        query=state.query,
        index=state.index,
        profile=state.profile,
        cursor=state.cursor,
        filters=state.filters,
        as_of=state.as_of,
        sort=SortOrder(state.sort or SortOrder.RELEVANCE),
        facets=True,
    )


def chosen_index(indexes: list[IndexCard], name: str) -> IndexCard:
    """The index with a name, or the first.

    >>> chosen_index([], "laws")
    Traceback (most recent call last):
    ...
    lexfuse.errors.UnknownIndexError: there is no index 'laws'; there are none
    """
    for index in indexes:
        if name in ("", index.name):
            return index
    raise UnknownIndexError(f"there is no index {name[:80]!r}; there are {', '.join(index.name for index in indexes) or 'none'}")


def options_of(indexes: list[IndexCard], index: IndexCard, messages: Messages) -> dict[str, Any]:
    """Values and labels of the choices of index, order and profile, and the language of the examples."""
    most_spoken = max(index.languages, key=lambda name: index.languages[name], default="")
    others = [(card.name, card.name, card.usable) for card in index.profiles if card.name != index.default_profile]
    return {
        "indexes": [(each.name, each.title or each.name) for each in indexes],
        "sorts": [("" if each is SortOrder.RELEVANCE else each.value, messages.text(f"sort.{each.value}")) for each in SortOrder],
        "profiles": [("", messages.text("search.default_profile", name=index.default_profile)), *others],
        "examples": most_spoken if most_spoken in set(InterfaceLocale) else messages.language.value,
    }
