"""The loops of late interaction, compiled by numba and cached on disk; `lexfuse.kernels.maxsim` describes them.

Products come from `lexfuse.kernels.register_products`: six rows with sixteen query vectors at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I32, I64
from lexfuse.kernels.compilation import njit
from lexfuse.kernels.register_products import LANES, ROWS, float_products, level_products

_NOTHING = np.float32(-np.inf)
_six, _one = float_products(ROWS), float_products(1)
_six_levels, _one_levels = level_products(ROWS), level_products(1)
I8 = NDArray[np.int8]
U8 = NDArray[np.uint8]


@njit(cache=True, nogil=True, inline="always")
def _multiply(source: int, query: int, out: int, dimensions: int, taken: int) -> None:
    """The products of six rows, or of one, with a group of lanes; all are given by their addresses."""
    if taken == ROWS:
        _six(source, query, out, dimensions)
    else:
        _one(source, query, out, dimensions)


@njit(cache=True, nogil=True, inline="always")
def _multiply_levels(source: int, query: int, out: int, fours: int, taken: int) -> None:
    """The same for levels."""
    if taken == ROWS:
        _six_levels(source, query, out, fours)
    else:
        _one_levels(source, query, out, fours)


@njit(cache=True, nogil=True)
def products(rows: F32, lanes: F32, out: F32) -> None:
    """Products of rows with every lane: ``out`` has one row for each row."""
    groups, dimensions = lanes.shape[0], lanes.shape[1]
    some = np.empty(ROWS * LANES, dtype=np.float32)
    at = 0
    while at < len(rows):
        taken = ROWS if at + ROWS <= len(rows) else 1
        for group in range(groups):
            source, query = rows.ctypes.data + 4 * at * dimensions, lanes.ctypes.data + 4 * group * dimensions * LANES
            _multiply(source, query, some.ctypes.data, dimensions, taken)
            for row in range(taken):
                for lane in range(LANES):
                    out[at + row, group * LANES + lane] = some[row * LANES + lane]
        at += taken


@njit(cache=True, nogil=True)
def nearest(vectors: F32, rows: F32, halves: F32, found: I32) -> None:
    """For every vector the row with the highest product minus half of that row; the first of equals."""
    dimensions = rows.shape[1]
    lanes = np.zeros((dimensions, LANES), dtype=np.float32)
    best = np.empty(LANES, dtype=np.float32)
    which = np.empty(LANES, dtype=np.int32)
    some = np.empty(ROWS * LANES, dtype=np.float32)
    for first in range(0, len(vectors), LANES):
        count = min(LANES, len(vectors) - first)
        for lane in range(count):
            for at in range(dimensions):
                lanes[at, lane] = vectors[first + lane, at]
        best[:] = _NOTHING
        which[:] = 0
        row = 0
        while row < len(rows):
            taken = ROWS if row + ROWS <= len(rows) else 1
            _multiply(rows.ctypes.data + 4 * row * dimensions, lanes.ctypes.data, some.ctypes.data, dimensions, taken)
            for number in range(taken):
                half, name = halves[row + number], np.int32(row + number)
                for lane in range(LANES):
                    value = some[number * LANES + lane] - half
                    better = value > best[lane]
                    best[lane] = value if better else best[lane]
                    which[lane] = name if better else which[lane]
            row += taken
        found[first : first + count] = which[:count]


@njit(cache=True, nogil=True)
def maxsim(rows: F32, starts: I64, lanes: F32, count: int, out: F32) -> None:
    """Eq. 11 of FUSE for every document; ``count`` lanes are query vectors."""
    groups, dimensions = lanes.shape[0], lanes.shape[1]
    best = np.empty(groups * LANES, dtype=np.float32)
    some = np.empty(ROWS * LANES, dtype=np.float32)
    for doc in range(len(starts) - 1):
        best[:] = _NOTHING
        at, end = starts[doc], starts[doc + 1]
        while at < end:
            taken = ROWS if at + ROWS <= end else 1
            for group in range(groups):
                source, query = rows.ctypes.data + 4 * at * dimensions, lanes.ctypes.data + 4 * group * dimensions * LANES
                _multiply(source, query, some.ctypes.data, dimensions, taken)
                _raise(best[group * LANES : (group + 1) * LANES], some, taken)
            at += taken
        out[doc] = _sum(best, count) if end > starts[doc] else np.float32(np.nan)


@njit(cache=True, nogil=True, inline="always")
def _raise(best: F32, some: F32, taken: int) -> None:
    """Update the highest product of every lane."""
    for row in range(taken):
        for lane in range(LANES):
            value = some[row * LANES + lane]
            best[lane] = value if value > best[lane] else best[lane]


@njit(cache=True, nogil=True, inline="always")
def _sum(best: F32, count: int) -> np.float32:
    total = 0.0
    for lane in range(count):
        total += best[lane]
    return np.float32(total)


@njit(cache=True, nogil=True)
def stored(
    docs: I32,
    starts: I64,
    codes: I32,
    scales: F32,
    residuals: U8,
    runs: I64,
    near: F32,
    lanes: I8,
    steps: F32,
    middles: F32,
    count: int,
    out: F32,
) -> None:
    """Eq. 11 of FUSE on stored vectors: ``near`` has the products of every centroid, ``lanes`` the query for the levels.

    The scores are approximate if ``lanes`` has the high halves alone, or ``runs`` only some of the levels.
    """
    groups, halves, fours = lanes.shape[0], lanes.shape[1], lanes.shape[2]
    slots = 4 * fours
    best = np.empty(groups * LANES, dtype=np.float32)
    high, low = np.zeros(ROWS * LANES, dtype=np.int32), np.zeros(ROWS * LANES, dtype=np.int32)
    levels = np.zeros(ROWS * slots, dtype=np.uint8)
    for place in range(len(docs)):
        best[:] = _NOTHING
        at, end = starts[docs[place]], starts[docs[place] + 1]
        while at < end:
            taken = ROWS if at + ROWS <= end else 1
            for row in range(taken):
                _unpack(residuals[at + row], runs, levels[row * slots : (row + 1) * slots])
            for group in range(groups):
                query = lanes.ctypes.data + halves * group * slots * LANES
                _multiply_levels(levels.ctypes.data, query, high.ctypes.data, fours, taken)
                if halves == 2:
                    _multiply_levels(levels.ctypes.data, query + slots * LANES, low.ctypes.data, fours, taken)
                own = slice(group * LANES, (group + 1) * LANES)
                for row in range(taken):
                    close, some = near[codes[at + row], own], slice(row * LANES, (row + 1) * LANES)
                    _raise_stored(best[own], close, high[some], low[some], steps[own], middles[own], scales[at + row])
            at += taken
        out[place] = _sum(best, count) if end > starts[docs[place]] else np.float32(np.nan)


@njit(cache=True, nogil=True, inline="always")
def _unpack(packed: U8, runs: I64, levels: U8) -> None:
    """The levels of one residual; see `lexfuse.kernels.levels`."""
    for run in range(len(runs)):
        bits, size, byte, slot = runs[run, 0], runs[run, 1], runs[run, 2], runs[run, 3]
        mask, source = np.uint8((1 << bits) - 1), packed[byte : byte + size]
        for number in range(8 // bits):
            shift, target = np.uint8(number * bits), levels[slot + number * size : slot + (number + 1) * size]
            for at in range(size):
                target[at] = np.uint8(source[at] >> shift) & mask


@njit(cache=True, nogil=True, inline="always")
def _raise_stored(best: F32, close: F32, high: I32, low: I32, steps: F32, middles: F32, scale: np.float32) -> None:
    """Update the highest product of every lane by those of one stored vector."""
    for lane in range(LANES):
        whole = np.float32(256) * np.float32(high[lane]) + np.float32(low[lane])
        value = (close[lane] + (steps[lane] * whole - middles[lane])) * scale
        best[lane] = value if value > best[lane] else best[lane]


@njit(cache=True, nogil=True)
def probed(near: F32, count: int, best: F32, which: I32) -> None:
    """The nearest centroids of every query vector and their products, the highest first, the first of equals."""
    best[:] = _NOTHING
    last = best.shape[1] - 1
    for centroid in range(len(near)):
        for lane in range(count):
            value = near[centroid, lane]
            if value > best[lane, last]:
                at = last
                while at > 0 and best[lane, at - 1] < value:
                    best[lane, at], which[lane, at] = best[lane, at - 1], which[lane, at - 1]
                    at -= 1
                best[lane, at], which[lane, at] = value, centroid


@njit(cache=True, nogil=True)
def estimated(best: F32, which: I32, lists: I64, members: I32, estimates: F32) -> None:
    """Add up, document by document, how far its nearest probed centroid exceeds the last one, which no document is below."""
    seen = np.full(len(estimates), -1, dtype=np.int32)
    probes = best.shape[1] - 1
    for vector in range(len(best)):
        for probe in range(probes):
            centroid, above = which[vector, probe], best[vector, probe] - best[vector, probes]
            for at in range(lists[centroid], lists[centroid + 1]):
                doc = members[at]
                if seen[doc] != vector:
                    seen[doc] = vector
                    estimates[doc] += above
