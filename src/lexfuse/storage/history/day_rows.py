"""The rows of a catalog whose documents have versions: those of one day, and all of one document."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

from lexfuse.data.document import Document
from lexfuse.storage.history.timeline import Timeline
from lexfuse.storage.history.version_rows import document_id

if TYPE_CHECKING:
    from lexfuse.storage.catalog import Catalog

PERIOD = ("valid_from", "valid_to")
Column = tuple[Sequence[int], Sequence[int], list[Any]]  # segments, ordinals and values of rows


class DayRows:
    """The rows that are in force on a day, as documents with the period around the day."""

    def __init__(self, catalog: Catalog, timeline: Timeline, day: datetime.date) -> None:
        """Choose them."""
        self._catalog, self._timeline = catalog, timeline
        self.mask = timeline.in_force(day)
        self.renamed = timeline.renamed(self.mask)  # the id of the row by that of the document, where they differ
        self._periods = timeline.periods_on(day)

    @property
    def places(self) -> tuple[list[int], list[int]]:
        """The segment of each row, and its ordinal there."""
        return self._timeline.segments[self.mask].tolist(), self._timeline.ordinals[self.mask].tolist()

    def column(self, name: str) -> Column:
        """One column of these rows."""
        segments, ordinals, values = self._catalog.column(name)
        if name in PERIOD:
            for place, period in self._periods.items():
                values[place] = period[PERIOD.index(name)]
        shown = self.mask.tolist()
        return list(compress(segments, shown)), list(compress(ordinals, shown)), list(compress(values, shown))

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents, in this order."""
        return [self._dated(one) for one in self._catalog.whole([self.renamed.get(id, id) for id in ids])]

    def heads(self, ids: Sequence[str]) -> list[Document]:
        """Documents without their texts, in this order; unknown ids are skipped."""
        rows = [self.renamed.get(id, id) for id in ids]
        found = self._catalog.heads(rows)
        return [self._dated(found[row]) for row in rows if row in found]

    def _dated(self, found: Document) -> Document:
        """A row as a version of its document."""
        period, id = self._row_periods.get(found.id), document_id(found.id)
        if period is not None:
            return _in_period(found, id, *period)
        return found if id == found.id else replace(found, id=id)

    @cached_property
    def _row_periods(self) -> dict[str, tuple[str | None, str | None]]:
        """The periods around the day of rows that have several, by the ids of the rows."""
        serials = [self._timeline.serials[place] for place in self._periods]
        names = {serial: one.id for serial, one in self._catalog.versions(serials).items()}
        return {names[serial]: period for serial, period in zip(serials, self._periods.values(), strict=True)}


def version_rows_of(catalog: Catalog, id: str) -> list[Document]:
    """The versions and absences of a document that has several periods; nothing for another one."""
    periods = catalog.periods(id)
    texts = catalog.versions([serial for *_, serial in periods if serial is not None])
    absence = Document(id)
    return [_in_period(absence if serial is None else texts[serial], id, start, end) for _, start, end, serial in periods]


def _in_period(found: Document, id: str, start: str | None, end: str | None) -> Document:
    first, last = (datetime.date.fromisoformat(day) if day else None for day in (start, end))
    return replace(found, id=id, valid_from=first, valid_to=last)
