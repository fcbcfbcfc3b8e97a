"""Quick scores of one query: rows of bytes, a quarter of what 32-bit floats would have to be read from memory.

row = scale * codes + rest, where no number of the rest is above scale / 2. The query is rounded to 16 bits: query = step *
numbers + trifle. So a score is off by no more than scale * (|query| / 2 + 127 |trifle|), where |.| is the sum of absolute
values. Rows within this error of the k-th best are candidates; with their exact scores the ranking is exact. For vectors that
are stored as bytes there is no rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexfuse.channels.dense.stored_part import STEPS, VectorPart, VectorStorage, quantised
from lexfuse.data.arrays import F32, F64, I32, I64, Bools, read_only
from lexfuse.kernels.compilation import read_only_view, read_only_views
from lexfuse.kernels.threads import run_on_cores

GROUP = 16  # rows, about, whose highest bounds are kept
AT_ONCE = 1 << 18  # numbers that are turned into bytes at once
CHUNK = 1024  # groups that are scanned at once by one thread
HIGHEST = 2**15 - 1  # of the numbers of a query
TOTAL = 2**31 - 1  # of a sum of products
UNDERFLOW = 2.0**-120  # what products of tiny numbers may lose


@dataclass(frozen=True, slots=True, eq=False)
class ByteRows:
    """The rows of a part as bytes, and groups of rows that hold whole documents.

    >>> rows = ByteRows.of(VectorPart.of(np.eye(2, dtype=np.float32)))
    >>> rows.codes.tolist(), rows.rest
    ([[127, 0], [0, 127]], 0.5)
    """

    codes: NDArray[np.int8]
    scales: F32
    bounds: I64
    rest: float

    @classmethod
    def of(cls, part: VectorPart) -> ByteRows:
        """A copy in bytes, or the rows themselves where they are bytes already."""
        bounds = part.starts[np.unique(np.searchsorted(part.starts, np.arange(0, part.rows + GROUP, GROUP)).clip(max=len(part)))]
        bounds = read_only(np.unique(np.concatenate(([0], bounds, [part.rows]))))
        if part.storage is VectorStorage.INT8:
            return cls(part.matrix, part.scales, bounds, 0.0)
        codes, scales = _in_bytes(part.block, part.rows, part.dimension)
        return cls(codes, scales, bounds, 0.5)

    @classmethod
    def arranged(cls, part: VectorPart, rows: I32) -> ByteRows:
        """A copy in bytes with the rows in another order.

        >>> part = VectorPart.of(np.eye(2, dtype=np.float32))
        >>> ByteRows.arranged(part, np.array([1, 0], np.int32)).codes.tolist()
        [[0, 127], [127, 0]]
        """
        bounds = np.arange(part.rows + 1, dtype=np.int64)
        if part.storage is VectorStorage.INT8:
            return cls(read_only(part.matrix[rows]), read_only(part.scales[rows]), bounds, 0.0)
        codes, scales = _in_bytes(lambda first, last: part.taken(rows[first:last]), part.rows, part.dimension)
        return cls(codes, scales, bounds, 0.5)


def _in_bytes(block: Callable[[int, int], F32], rows: int, dimension: int) -> tuple[NDArray[np.int8], F32]:
    """Codes and scales of all rows, block by block."""
    codes = np.empty((rows, dimension), dtype=np.int8)
    scales = np.empty(rows, dtype=np.float32)

    def work(first: int, last: int) -> None:
        codes[first:last], scales[first:last] = quantised(block(first, last))

    run_on_cores(work, rows, max(1, AT_ONCE // dimension))
    return read_only(codes), read_only(scales)


@dataclass(frozen=True, slots=True, eq=False)
class Query16:
    """A query in 16 bits, and what its scores are off by, as a factor of a row's scale.

    >>> Query16.of(np.array([1, -0.5], dtype=np.float32), rest=0.0).numbers.tolist()
    [32767, -16384]
    """

    numbers: NDArray[np.int16]
    step: np.float32
    error: np.float32

    @classmethod
    def of(cls, query: F32, rest: float) -> Query16:
        """Round a query so that no sum of products is beyond 32 bits."""
        highest = min(HIGHEST, TOTAL // (STEPS * len(query)))
        wide = query.astype(np.float64)
        step = np.float32(np.abs(wide).max() / highest) + np.float32(1e-45)  # never zero
        numbers = np.rint(wide / np.float64(step))
        trifle = np.abs(wide - np.float64(step) * numbers).sum()
        size = np.abs(wide).sum() + trifle
        error = rest * size + STEPS * trifle + STEPS * size * 2.0**-20  # the last for all roundings to 32 bits
        return cls(read_only(numbers.astype(np.int16)), step, np.nextafter(np.float32(error), np.float32(np.inf)))


@dataclass(frozen=True, slots=True, eq=False)
class ScanResult:
    """Bounds of the scores of all rows of a part, and of groups of rows; `scanned` makes it."""

    rows: ByteRows
    query: Query16
    upper: F32
    group_lower: F32
    group_upper: F32

    def reaching(self, floor: float) -> tuple[I64, F64, F64]:
        """The rows whose upper bound reaches a floor, each with its score and how far that may be off."""
        floor = max(floor - UNDERFLOW, float(np.finfo(np.float32).min))  # rows that are not allowed have minus infinity
        groups = np.flatnonzero(self.group_upper >= floor)
        first, last = self.rows.bounds[groups], self.rows.bounds[groups + 1]
        sizes = last - first
        row = np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        above = self.upper[row]
        row = row[above >= floor]
        error = self.rows.scales[row].astype(np.float64) * np.float64(self.query.error) + UNDERFLOW
        return row, self.upper[row] - error, error


def scanned(rows: ByteRows, query: F32, allowed: Bools) -> ScanResult:
    """Scan all rows for one query, on all cores.

    >>> rows = ByteRows.of(VectorPart.of(np.eye(2, dtype=np.float32)))
    >>> found = scanned(rows, np.array([0, 2], dtype=np.float32), np.empty(0, np.bool_))
    >>> [value.round(1).tolist() for value in found.reaching(1.5)]
    [[1], [2.0], [0.0]]
    """
    from lexfuse.kernels.dot_product_numba import scan

    asked = Query16.of(query, rows.rest)
    upper = np.empty(len(rows.codes), dtype=np.float32)
    lower_of, upper_of = (np.empty(len(rows.bounds) - 1, dtype=np.float32) for _ in range(2))
    codes, scales, numbers, allowed = read_only_views(rows.codes, rows.scales, asked.numbers, allowed)

    def work(first: int, last: int) -> None:
        bounds = read_only_view(rows.bounds[first : last + 1])
        groups = slice(first, last)
        scan(codes, scales, bounds, numbers, asked.step, asked.error, allowed, upper, lower_of[groups], upper_of[groups])

    few = len(allowed) > 0 and np.count_nonzero(allowed) < CHUNK * GROUP  # done before another thread has started
    run_on_cores(work, len(lower_of), max(len(lower_of), 1) if few else CHUNK)
    return ScanResult(rows, asked, upper, lower_of, upper_of)
