"""The versions of a document as a timeline: the periods, where each can be read, and what changed from one to the next."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote, urlencode

from lexfuse.service.schemas.document import DocumentCard, WholeDocument
from lexfuse.service.schemas.history import DocumentVersion
from lexfuse.web.search_state import SearchState

_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """A version: its period, its address, and the address of what changed since the version before."""

    start: datetime.date | None
    end: datetime.date | None
    address: str
    current: bool = False  # the one that is shown
    changes: str = ""
    state: DocumentCard | None = None  # of a version that is another document


def timeline_of(found: WholeDocument, history: Sequence[DocumentVersion], state: SearchState) -> list[TimelineEntry]:
    """The versions of a document, newest first: periods of one id, or documents that are versions of one article.

    >>> days = [datetime.date(year, 1, 1) for year in (1990, 2005)]
    >>> history = [DocumentVersion(valid_from=days[0], valid_to=days[1], text="a"),
    ...            DocumentVersion(valid_from=days[1], valid_to=None, text="b")]
    >>> shown = WholeDocument(id="x", text="b", etag="", valid_from=days[1])
    >>> newest, oldest = timeline_of(shown, history, SearchState())
    >>> newest.current, newest.changes, oldest.address
    (True, '/changes/x?before=2004-12-31&after=2005-01-01', '/documents/x?as_of=1990-01-01')
    """
    versions = [one for one in history if one.text or one.title]
    entries = _periods(found, versions, state) if len(versions) > 1 else _documents(found, state)
    return entries[::-1]


def _periods(found: WholeDocument, versions: Sequence[DocumentVersion], state: SearchState) -> list[TimelineEntry]:
    changes = [""]
    for before, after in pairwise(versions):
        last = (before.valid_to or after.valid_from or datetime.date.max) - _DAY
        changes.append(_changes(found.id, state.index, before=str(last), after=str(after.valid_from)))
    return [
        TimelineEntry(
            one.valid_from,
            one.valid_to,
            state.but(as_of=str(one.valid_from or (one.valid_to or datetime.date.max) - _DAY)).document(found.id),
            current=one.valid_from == found.valid_from,
            changes=address,
        )
        for one, address in zip(versions, changes, strict=True)
    ]


def _documents(found: WholeDocument, state: SearchState) -> list[TimelineEntry]:
    """Versions with their own ids, the oldest first."""
    if not found.versions:
        return []
    every = sorted([*found.versions, found], key=lambda one: (one.valid_from or datetime.date.min, one.id))
    changes = ["", *(_changes(after.id, state.index, other=before.id) for before, after in pairwise(every))]
    return [
        TimelineEntry(one.valid_from, one.valid_to, state.document(one.id), one is found, address, one)
        for one, address in zip(every, changes, strict=True)
    ]


def _changes(id: str, index: str, **more: str) -> str:
    query = urlencode({**({"index": index} if index else {}), **more})
    return f"/changes/{quote(id, safe='')}?{query}"
