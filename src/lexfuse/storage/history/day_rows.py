"""The rows of a catalog whose documents have versions: those of one day, and all of one document."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import compress

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.data.document import Document
from lexfuse.storage.catalog import Catalog
from lexfuse.storage.history.row_columns import RowColumns, chosen_rows
from lexfuse.storage.history.shown_rows import CodedValues, RowPlaces
from lexfuse.storage.history.timeline import Timeline
from lexfuse.storage.history.version_rows import document_id
from lexfuse.storage.snapshot import numbered

PERIOD = ("valid_from", "valid_to")


class DayRows:
    """The rows that are in force on a day, as documents with the period around the day."""

    def __init__(self, catalog: Catalog, timeline: Timeline, columns: RowColumns, day: datetime.date) -> None:
        """Choose them."""
        self._catalog, self._timeline, self._columns = catalog, timeline, columns
        self.mask = timeline.in_force(day)
        self.renamed = timeline.renamed(self.mask)  # the id of the row by that of the document, where they differ
        self._periods = timeline.periods_on(day)

    @cached_property
    def places(self) -> RowPlaces:
        """Where the rows are stored."""
        return RowPlaces(self._timeline.segments[self.mask], self._timeline.ordinals[self.mask])

    def serials(self) -> tuple[RowPlaces, I64]:
        """The place and the serial number of each row."""
        return self.places, np.array(self._timeline.serials, dtype=np.int64)[self.mask]

    def coded(self, name: str) -> tuple[RowPlaces, CodedValues]:
        """The place of each row, and one column."""
        column = self._columns.of(name)
        if name not in PERIOD:
            return self.places, chosen_rows(column, self.mask)
        values = [column.values[code] for code in column.codes.tolist()]
        for place, period in self._periods.items():
            values[place] = period[PERIOD.index(name)]
        return self.places, CodedValues(*numbered(compress(values, self.mask.tolist())))

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
