"""Completions of a question that is being typed."""

from __future__ import annotations

from pydantic import Field

from lexfuse.search.words.suggestion import LONGEST, MOST, suggester_of
from lexfuse.service.parameters import IndexParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.search import SuggestedText, SuggestionList


class SuggestQuery(IndexParameters):
    """What was typed so far."""

    query: str = Field(
        min_length=1,
        description=f"What was typed; a text of more than {LONGEST} characters has no completions.",
        examples=["congé de pat"],
    )
    k: int = Field(8, ge=1, le=MOST, description="Number of suggestions.", examples=[8])


def suggest(registry: IndexRegistry, given: SuggestQuery) -> SuggestionList:
    """The best completions.

    >>> [one.text for one in suggest(registry, SuggestQuery(query="les horai")).suggestions]
    ['les horaires']
    """
    served = registry.index(given.index)
    with served.lease() as version:
        found = suggester_of(version).suggest(given.query, given.k)
        suggestions = [SuggestedText(text=one.text, kind=one.kind.value, document=one.document or None) for one in found]
        return SuggestionList(index=served.name, generation=version.generation, suggestions=suggestions)
