"""How the statistics of terms change from day to day, where documents have versions.

On a day some versions come into force and others cease. The statistics of a day are the sum of all changes up to it, so every
router and every shard computes those of any day by itself. Most words of a version are also in the one before it: what comes and
goes on the same day is not stored.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32, F64, I64, offsets_of, read_only
from lexfuse.data.files import make_folder
from lexfuse.errors import DataError
from lexfuse.storage.array_file import checked_offsets, map_array, save_array
from lexfuse.storage.history.period_counts import OPEN, day_number
from lexfuse.storage.segments.channel_postings import Postings

_FILES = {"days": np.int64, "offsets": np.int64, "terms": np.int64, "frequency": np.int64, "occurrences": np.float64}
_SUMS = "sums"


@dataclass(frozen=True, eq=False)
class RowPeriods:
    """The periods of stored versions: the raw number of the version in its posting lists, its first day, and the day after.

    >>> periods = RowPeriods(np.array([0, 1, 0]), np.array([0, 10, 20]), np.array([10, 20, OPEN]))
    >>> of, days, signs = periods.events_of(np.array([0]))
    >>> of.tolist(), days.tolist(), signs.tolist()
    ([0, 0, 0], [0, 20, 10], [1, 1, -1])
    """

    raw: I64
    starts: I64
    ends: I64

    def events_of(self, raw: I64) -> tuple[I64, I64, I64]:
        """For each time that one of these versions comes (1) or ceases (-1): its place in the list, the day, and which it is."""
        order = np.argsort(self.raw, kind="stable")
        first, last = (np.searchsorted(self.raw[order], raw, side=side) for side in ("left", "right"))
        count = last - first
        of = np.repeat(np.arange(len(raw)), count)
        period = order[np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)]
        starts, ends = self.starts[period], self.ends[period]
        real, ceases = starts < ends, (starts < ends) & (ends < OPEN)
        signs = np.repeat(np.array([1, -1]), [int(real.sum()), int(ceases.sum())])
        return np.concatenate((of[real], of[ceases])), np.concatenate((starts[real], ends[ceases])), signs


@dataclass(frozen=True, eq=False)
class TermChanges:
    """The changes of each day, of every term and of the sums over all documents."""

    days: I64  # ascending, numbered from 1970-01-01
    offsets: I64  # of the changes of each day
    terms: I64  # places of terms
    frequency: I64  # by which the documents with the term change
    occurrences: F64  # by which the weights of the term change
    sums: Mapping[str, F64]  # for each day, by which a sum over all documents changes

    @classmethod
    def of(cls, postings: Postings, places: I64, periods: RowPeriods, lengths: Mapping[str, F32]) -> TermChanges:
        """The changes by all versions that posting lists hold; `places` has the place of each term of their vocabulary.

        `lengths` has for each sum a number of each raw document, by which the sum grows when it comes into force.
        """
        of, when, signs = periods.events_of(np.unique(periods.raw))
        raw = np.unique(periods.raw)[of]
        days = np.unique(when)
        at = np.searchsorted(days, when)
        sums = {
            name: np.bincount(at, signs * numbers[raw].astype(np.float64), len(days)).astype(np.float64)
            for name, numbers in lengths.items()
        }
        parts: list[tuple[I64, I64, I64, F64]] = []
        for stretch in postings.stretches():
            of, when, signs = periods.events_of(stretch.docs.astype(np.int64))
            weights = stretch.weights[of].astype(np.float64) * signs
            parts.append((np.searchsorted(days, when).astype(np.int64), places[stretch.terms[of]], signs, weights))
        return cls._summed(days, sums, parts)

    @classmethod
    def merged(cls, shards: Sequence[tuple[TermChanges, I64]]) -> TermChanges:
        """The sums over shards, each with the place of each of its terms among those of all."""
        days = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(own.days for own, _ in shards)]))
        names = dict.fromkeys(name for own, _ in shards for name in own.sums)
        sums = {name: np.zeros(len(days)) for name in names}
        parts = []
        for own, places in shards:
            at = np.searchsorted(days, own.days)
            for name, numbers in own.sums.items():
                sums[name][at] += numbers
            parts.append((np.repeat(at, np.diff(own.offsets)), places[own.terms], own.frequency, own.occurrences))
        return cls._summed(days, sums, parts)

    @classmethod
    def _summed(cls, days: I64, sums: Mapping[str, F64], parts: Sequence[tuple[I64, I64, I64, F64]]) -> TermChanges:
        """Changes with those of the same day and term added up."""
        empty = (np.empty(0, dtype=np.int64),) * 3 + (np.empty(0),)
        at, terms, frequency, occurrences = (np.concatenate(column) for column in zip(empty, *parts, strict=True))
        width = int(terms.max(initial=0)) + 1
        keys, inverse = np.unique(at * width + terms, return_inverse=True)
        change = np.bincount(inverse, frequency, len(keys)).astype(np.int64)
        weight = np.bincount(inverse, occurrences, len(keys)).astype(np.float64)
        kept = (change != 0) | (weight != 0)
        counts = np.bincount(keys[kept] // width, minlength=len(days))
        return cls(days, offsets_of(counts.astype(np.int64)), keys[kept] % width, change[kept], weight[kept], sums)

    def on(self, day: datetime.date, terms: int) -> tuple[I64, F64, dict[str, float]]:
        """On a day: how many documents have each of the terms, how often they occur, and the sums."""
        until = int(np.searchsorted(self.days, day_number(day), side="right"))
        changes = slice(0, int(self.offsets[until]))
        frequency = np.bincount(self.terms[changes], self.frequency[changes], terms).astype(np.int64)
        occurrences = np.bincount(self.terms[changes], self.occurrences[changes], terms).astype(np.float64)
        occurrences[frequency == 0] = 0.0  # what rounding leaves of terms that are gone
        sums = {name: float(numbers[:until].sum()) for name, numbers in self.sums.items()}
        return read_only(frequency), read_only(occurrences), sums

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the files into a folder, yielding each path."""
        make_folder(folder / _SUMS)
        for name in _FILES:
            yield save_array(folder / f"{name}.npy", getattr(self, name))
        for name, numbers in self.sums.items():
            yield save_array(folder / _SUMS / f"{name}.npy", numbers)

    @classmethod
    def load(cls, folder: Path) -> TermChanges:
        """Map saved changes into memory; a `DataError` if the files do not belong together."""
        found = {name: map_array(folder / f"{name}.npy", kind) for name, kind in _FILES.items()}
        sums = {path.stem: map_array(path, np.float64) for path in sorted((folder / _SUMS).glob("*.npy"))}
        checked_offsets(found["offsets"], len(found["terms"]), folder / "offsets.npy")
        same = len({len(found[name]) for name in ("terms", "frequency", "occurrences")}) == 1
        if not same or {len(found["offsets"]) - 1, *map(len, sums.values())} != {len(found["days"])}:
            raise DataError("the files do not belong together; publish the cluster again", path=folder)
        return cls(**found, sums=sums)
