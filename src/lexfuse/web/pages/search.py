"""The start page and the results: ``/``."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.errors import UnknownIndexError
from lexfuse.search.hits import SortOrder
from lexfuse.service.middleware.request_log import note_answer
from lexfuse.service.operations.index_list import index_list
from lexfuse.service.operations.lasting_search import lasting_search
from lexfuse.service.operations.search import SearchQuery
from lexfuse.service.routes.responses import service_of
from lexfuse.service.schemas.search import IndexCard
from lexfuse.storage.filters import FIELDS, Condition, Operator
from lexfuse.web.locale_format import day
from lexfuse.web.messages import InterfaceLocale, Messages, messages_of
from lexfuse.web.pages.feedback import judged_here
from lexfuse.web.renderer import page, reader_of
from lexfuse.web.search_state import SEARCH, SearchState, accepts

router = APIRouter(include_in_schema=False)

KNOWN_FACETS = ("code", "headings", "court", "kind", "year", "language")  # the others are shown to experts
_SECTIONS = {"kind": "kind", "language": "tongue", "status": "status"}  # of messages, by field


@router.get("/", dependencies=[accepts(*SEARCH)])
async def search_page(request: Request) -> HTMLResponse:
    """The start page, or the results of a question."""
    service = service_of(request)
    state = SearchState.of(request.query_params)
    messages = messages_of(reader_of(request).language)
    indexes = (await service.run(index_list, service.registry)).indexes
    index = chosen_index(indexes, state.index)
    values: dict[str, Any] = {"state": state, "indexes": indexes, "index": index, "options": options_of(indexes, index, messages)}
    values["known_facets"] = KNOWN_FACETS
    values["as_of_words"] = _day(state.as_of, messages) if state.as_of else ""
    if not state.query.strip():
        return await page(request, "search.html", parts={"results": "_opening.html"}, **values | {"state": state.but(query="")})
    lasting = await service.answer(lasting_search, state.request(SearchQuery, facets=True))
    answer = lasting.page
    note_answer(answer)
    if lasting.missing_profile:
        values["state"] = state = replace(state, profile="")
    values |= {
        "answer": answer,
        "lasting": lasting,
        "chips": chips_of(state, messages),
        **await judged_here(request, state.query, answer.index),
    }
    return await page(request, "search.html", parts={"results": "_results.html"}, **values)


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
    """Values and labels of the choices of index, order and profile, and examples of questions with their language."""
    most_spoken = max(index.languages, key=lambda name: index.languages[name], default="")
    others = [(card.name, card.name, card.usable) for card in index.profiles if card.name != index.default_profile]
    language = most_spoken if most_spoken in set(InterfaceLocale) else messages.language.value
    return {
        "indexes": [(each.name, each.titles.get(messages.language.value) or each.title or each.name) for each in indexes],
        "sorts": [("" if each is SortOrder.RELEVANCE else each.value, messages.text(f"sort.{each.value}")) for each in SortOrder],
        "profiles": [("", messages.text("search.default_profile", name=index.default_profile)), *others],
        "examples": index.examples or messages.text(f"examples.{language}").splitlines(),
        "examples_language": "" if index.examples else language,
    }


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A filter, and the address without it."""

    label: str
    without: str


def chips_of(state: SearchState, messages: Messages) -> list[FilterChip]:
    r"""The day and the filters of a search.

    >>> from lexfuse.web.messages import InterfaceLocale, messages_of
    >>> state = SearchState("loi", filters=("kind=statute", "date^=2020"), as_of="2024-05-01")
    >>> [chip.label for chip in chips_of(state, messages_of(InterfaceLocale.ENGLISH))]
    ['In force on 1\xa0May\xa02024', 'Statute', '2020']
    """
    chips = [FilterChip(_label(condition, messages), state.without(condition).url()) for condition in state.filters]
    if not state.as_of:
        return chips
    words = messages.text("facet.as_of", date=_day(state.as_of, messages))
    return [FilterChip(words, state.but(as_of="").url()), *chips]


def _label(written: str, messages: Messages) -> str:
    """A filter in words: only the values for conditions of facets, otherwise the whole condition."""
    condition = Condition.parse(written)
    if condition.field not in FIELDS:  # metadata, which has no messages
        sign = ":" if condition.operator in (Operator.IS, Operator.BEGINS) else f" {condition.operator.value}"
        return f"{condition.field}{sign} {', '.join(condition.values)}"
    section = _SECTIONS.get(condition.field, "")
    values = [messages.text(key) if messages.has(key := f"{section}.{value}") else value for value in condition.values]
    if condition.operator is Operator.IS:
        return ", ".join(value or messages.text("facet.empty") for value in values)
    if condition.field == "headings" and condition.operator is Operator.BEGINS:
        return condition.values[0].rstrip("> ").rpartition(">")[2].strip(". ")
    if condition.field == "date" and condition.operator is Operator.BEGINS:
        return condition.values[0]
    key = f"facet.{condition.field}"
    field = messages.text(key) if messages.has(key) else condition.field
    return f"{field} {condition.operator.value} {', '.join(values)}"


def _day(written: str, messages: Messages) -> str:
    """A day in words; an invalid day is shown as it is, because the search reports the error."""
    try:
        return day(datetime.date.fromisoformat(written), messages.language)
    except ValueError:
        return written
