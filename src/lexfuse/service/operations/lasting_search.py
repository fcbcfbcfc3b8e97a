"""A search from an address that was kept: it answers even where the index has changed, or its profile no longer exists."""

from __future__ import annotations

from dataclasses import dataclass

from lexfuse.errors import GoneError, UnknownProfileError
from lexfuse.service.operations.cursor import Cursor
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.search import SearchPage


@dataclass(frozen=True, slots=True)
class LastingPage:
    """A page of results, and what of the address no longer held."""

    page: SearchPage
    ranked_again: bool = False  # the index has changed since the first page was made
    missing_profile: str = ""  # the default answered in its place


def lasting_search(registry: IndexRegistry, given: SearchQuery) -> LastingPage:
    """The page of an address; a further page of an index that has changed is ranked again, a missing profile is the default.

    >>> lasting_search(registry, SearchQuery(query="prêt", profile="former")).missing_profile
    'former'
    """
    missing = ""
    served = registry.index(given.index)
    with served.lease() as version:
        if given.profile and given.profile not in version.specs:
            missing, given = given.profile, _moved(given, given.model_copy(update={"profile": ""}), version.generation)
    try:
        return LastingPage(search(registry, given), missing_profile=missing)
    except GoneError:
        return LastingPage(search(registry, _moved(given, given, served.generation)), True, missing)
    except UnknownProfileError:  # it was dropped in this moment
        return LastingPage(search(registry, given.model_copy(update={"profile": "", "cursor": ""})), False, given.profile)


def _moved(given: SearchQuery, to: SearchQuery, generation: int) -> SearchQuery:
    """The same place of another ranking or another version."""
    if not given.cursor:
        return to
    after = Cursor.parse(given.cursor, given.digest()).after
    return to.model_copy(update={"cursor": Cursor(after, generation, to.digest()).text()})
