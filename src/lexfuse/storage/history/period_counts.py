"""How many documents are in force on each day, counted from the days on which periods begin and end."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.storage.history.day_coverage import DayCoverage

OPEN = np.iinfo(np.int64).max  # the number of a day that never comes; negative, of one before all others


@dataclass(frozen=True, eq=False)
class PeriodCounts:
    """The days on which periods begin and end, and on which documents are first known; days are numbered from 1970-01-01.

    >>> counts = PeriodCounts.of(np.array([0, 10]), np.array([10, OPEN]), np.array([0]))
    >>> day = datetime.date(1970, 1, 5)
    >>> counts.coverage(day).in_force, counts.first_day(day) == datetime.date(1970, 1, 1)
    (1, True)
    """

    starts: I64  # ascending
    ends: I64
    known: I64  # one for each document

    @classmethod
    def of(cls, starts: I64, ends: I64, known: I64) -> PeriodCounts:
        """The counts of periods in any order; one that ends before it begins is never in force."""
        real = starts < ends
        return cls(np.sort(starts[real]), np.sort(ends[real]), np.sort(known))

    @classmethod
    def merged(cls, parts: Sequence[PeriodCounts]) -> PeriodCounts:
        """The counts of several indexes together."""
        columns = zip(*((part.starts, part.ends, part.known) for part in parts), strict=True)
        return cls(*(np.sort(np.concatenate(column)) for column in columns))

    @cached_property
    def _bounds(self) -> I64:
        return np.unique(np.concatenate([self.starts, self.ends, self.known]))

    def epoch(self, day: datetime.date) -> int:
        """A number that two days share if the same periods cover both."""
        return int(np.searchsorted(self._bounds, day_number(day), side="right"))

    def first_day(self, day: datetime.date) -> datetime.date:
        """The first day of the epoch of a day."""
        epoch = self.epoch(day)
        bound = int(self._bounds[epoch - 1]) if epoch else -OPEN
        return datetime.date.min if bound == -OPEN else datetime.date(1970, 1, 1) + datetime.timedelta(bound)

    def coverage(self, day: datetime.date) -> DayCoverage:
        """How many documents are in force on a day, and how many are known only from a later day on."""
        begun, ended, known = (
            int(np.searchsorted(days, day_number(day), side="right")) for days in (self.starts, self.ends, self.known)
        )
        return DayCoverage(day, len(self.known), begun - ended, len(self.known) - known)


def day_number(day: datetime.date) -> int:
    """The number of a day from 1970-01-01.

    >>> day_number(datetime.date(1970, 1, 11))
    10
    """
    return int(np.datetime64(day).astype(np.int64))
