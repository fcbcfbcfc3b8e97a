"""Before the first question: everything that is loaded on use is loaded, so that no reader waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.errors import LexFuseError
from lexfuse.service.library import WARM_QUESTION
from lexfuse.service.logs import log
from lexfuse.service.searching import SearchAsk, search

if TYPE_CHECKING:
    from lexfuse.service.library import Library


def warm_up(library: Library) -> None:
    """Search every index once by its default profile, with facets; models are read, and compiled loops are compiled.

    An index that cannot be searched does not keep the others from being served: its own requests tell what is wrong.

    >>> from lexfuse.service.library import Library
    >>> warm_up(Library([]))
    """
    for name in library.names:
        try:
            search(library, SearchAsk(WARM_QUESTION, index=name, facets=True))
        except LexFuseError as error:
            log.error("an index could not be warmed up", exc_info=error, extra={"told": {"index": name}})
