"""The filters of a search in words, each with the address of the search without it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from lexfuse.storage.filters import Condition, Operator
from lexfuse.web.locale_format import day
from lexfuse.web.messages import Messages
from lexfuse.web.search_state import SearchState

_SECTIONS = {"kind": "kind", "language": "tongue", "status": "status"}


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
    section = _SECTIONS.get(condition.field, "")
    values = [messages.text(key) if messages.has(key := f"{section}.{value}") else value for value in condition.values]
    if condition.operator is Operator.IS:
        return ", ".join(value or messages.text("facet.empty") for value in values)
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
