"""Which rows of a catalog are in force on a day, for an index whose documents have versions."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Sequence
from itertools import compress

import numpy as np

from lexfuse.data.arrays import I64, Bools
from lexfuse.errors import DataError
from lexfuse.storage.catalog import SERIAL, Catalog
from lexfuse.storage.history.period_counts import OPEN, PeriodCounts, day_number
from lexfuse.storage.history.version_rows import document_id


class Timeline:
    """The periods of all rows of a catalog, in the order of their serial numbers; days are numbered from 1970-01-01.

    A row has one or more periods: `rows` has the place of the row of each, `starts` and `ends` its days.
    """

    def __init__(self, catalog: Catalog) -> None:
        """Read the dates of all rows, and the periods of those that have several or share their document."""
        segments, ordinals, serials = catalog.column(SERIAL)
        self.segments, self.ordinals = np.array(segments, dtype=np.int64), np.array(ordinals, dtype=np.int64)
        starts = _days(catalog.column("valid_from")[2], -OPEN)
        ends = _days(catalog.column("valid_to")[2], OPEN)
        periods = catalog.periods()
        place = {serial: at for at, serial in enumerate(serials)}
        if lost := next((row for row in periods if row[3] is not None and row[3] not in place), None):
            raise DataError(f"document {lost[0]!r} has a period without a text; restore the catalog", path=catalog.path)
        dated = [row for row in periods if row[3] is not None]
        own = np.ones(len(serials), dtype=np.bool_)
        own[[place[row[3]] for row in dated]] = False
        self.rows: I64 = np.concatenate([np.flatnonzero(own), np.array([place[row[3]] for row in dated], dtype=np.int64)])
        self.starts = np.concatenate([starts[own], _days([row[1] for row in dated], -OPEN)])
        self.ends = np.concatenate([ends[own], _days([row[2] for row in dated], OPEN)])
        first: dict[str, str] = {}  # the first day that is known of each document
        for document, start, _, _ in periods:
            first[document] = min(start, first.get(document, start))
        self.counts = PeriodCounts.of(self.starts, self.ends, np.concatenate([starts[own], _days(list(first.values()), -OPEN)]))
        self._size = len(serials)
        past = catalog.past_rows()  # ids of rows of past versions, by serial number
        self._past = np.array([place[serial] for serial in past], dtype=np.int64)
        self._names = [(document_id(name), name) for name in past.values()]
        self.serials = serials
        self._several = _several(periods)
        self._place = place

    def in_force(self, day: datetime.date) -> Bools:
        """Which rows are in force on a day."""
        number = day_number(day)
        mask = np.zeros(self._size, dtype=np.bool_)
        mask[self.rows[(self.starts <= number) & (number < self.ends)]] = True
        return mask

    def renamed(self, mask: Bools) -> dict[str, str]:
        """Of the rows of a mask, those of past versions: the ids of rows by the ids of documents."""
        return dict(compress(self._names, mask[self._past].tolist()))

    def periods_on(self, day: datetime.date) -> dict[int, tuple[str | None, str | None]]:
        """The first day and the day after the last of rows that have several periods, for that around a day, by place."""
        written = day.isoformat()
        return {
            self._place[serial]: (start or None, end or None)
            for serial, every in self._several.items()
            for start, end in every
            if start <= written and (not end or written < end)
        }


def _several(periods: Sequence[tuple[str, str, str, int | None]]) -> dict[int, list[tuple[str, str]]]:
    found: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for _, start, end, serial in periods:
        if serial is not None:
            found[serial].append((start, end))
    return {serial: every for serial, every in found.items() if len(every) > 1}


def _days(values: Sequence[str | None], missing: int) -> I64:
    days = np.array([value or "NaT" for value in values], dtype="datetime64[D]")
    return np.where(np.isnat(days), missing, days.astype(np.int64))
