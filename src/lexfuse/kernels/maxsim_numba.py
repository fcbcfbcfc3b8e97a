"""The loops of late interaction, compiled by numba and cached on disk; `lexfuse.kernels.maxsim` describes them.

Products come from `lexfuse.kernels.register_products`: several rows with sixteen query vectors at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I32, I64
from lexfuse.kernels.compilation import njit
from lexfuse.kernels.register_maxima import BLOCK, level_product, nearest_tokens, product_bounds, reached
from lexfuse.kernels.register_products import LANES, LEVEL_ROWS, ROWS, float_products, level_products

_NOTHING = np.float32(-np.inf)
_six, _one = float_products(ROWS), float_products(1)
_multiply_levels = level_products(LEVEL_ROWS)
_SPAN = 24 * LEVEL_ROWS  # tokens of a document that are unpacked at once
I8 = NDArray[np.int8]
U8 = NDArray[np.uint8]


@njit(cache=True, nogil=True, inline="always")
def _multiply(source: int, query: int, out: int, dimensions: int, taken: int) -> None:
    """The products of six rows, or of one, with a group of lanes; all are given by their addresses."""
    if taken == ROWS:
        _six(source, query, out, dimensions)
    else:
        _one(source, query, out, dimensions)


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
    low: I8,
    bounds: F32,
    steps: F32,
    middles: F32,
    out: F32,
) -> None:
    """Eq. 11 of FUSE on stored vectors: ``near`` has the products of every centroid, ``lanes`` the high halves of the query.

    By the high halves a product is known up to an error, which is in ``bounds``. The ``low`` halves are multiplied only where a
    token can be the best one.
    """
    groups, slots, count, columns = lanes.shape[0], 4 * lanes.shape[1], low.shape[0], near.shape[1]
    levels = np.zeros(_SPAN * slots + BLOCK, dtype=np.uint8)
    best, least = np.empty(columns, dtype=np.float32), np.empty(LANES, dtype=np.float32)
    high, most = np.zeros((_SPAN, LANES), dtype=np.int32), np.empty((_SPAN, LANES), dtype=np.float32)
    for place in range(len(docs)):
        best[:] = _NOTHING
        start, end = starts[docs[place]], starts[docs[place] + 1]
        for first in range(start, end, _SPAN):
            size = min(_SPAN, end - first)
            for row in range(size):
                _unpack(residuals[first + row], runs, levels[row * slots : (row + 1) * slots])
            for group in range(groups):
                query = lanes.ctypes.data + group * slots * LANES
                for row in range(0, size, LEVEL_ROWS):
                    source, into = levels.ctypes.data + row * slots, high.ctypes.data + 4 * row * LANES
                    _multiply_levels(source, query, into, slots // 4)
                for lane in range(LANES):
                    least[lane] = best[group * LANES + lane]
                constants = bounds.ctypes.data + 12 * group * LANES
                for row in range(size):
                    close = near.ctypes.data + 4 * (np.int64(codes[first + row]) * columns + group * LANES)
                    at, into = high.ctypes.data + 4 * row * LANES, most.ctypes.data + 4 * row * LANES
                    product_bounds(at, close, constants, scales[first + row], into, least.ctypes.data)
                for row in range(size):
                    chosen = reached(most.ctypes.data + 4 * row * LANES, least.ctypes.data)
                    vector = group * LANES
                    while chosen > 0 and vector < count:
                        if chosen & 1:
                            source, asked = levels.ctypes.data + row * slots, low.ctypes.data + vector * low.shape[1]
                            product = level_product(source, asked, low.shape[1] // BLOCK)
                            whole = np.float32(256) * np.float32(high[row, vector - group * LANES]) + np.float32(product)
                            left = steps[vector] * whole - middles[vector]
                            value = (near[codes[first + row], vector] + left) * scales[first + row]
                            best[vector] = value if value > best[vector] else best[vector]
                        chosen >>= 1
                        vector += 1
        out[place] = _sum(best, count) if end > start else np.float32(np.nan)


@njit(cache=True, nogil=True)
def approximate(
    docs: I32,
    starts: I64,
    codes: I32,
    scales: F32,
    residuals: U8,
    runs: I64,
    near: F32,
    query: I8,
    steps: F32,
    middles: F32,
    out: F32,
) -> None:
    """Estimates of eq. 11 of FUSE: every query vector meets the token with the nearest centroid, by a query of 8 bits."""
    count, slots, columns = query.shape[0], query.shape[1], near.shape[1]
    lengths = starts[docs + 1] - starts[docs]
    levels = np.zeros((max(lengths), slots), dtype=np.uint8)
    opened = np.empty(len(levels), dtype=np.bool_)
    best, which = np.empty(columns, dtype=np.float32), np.zeros(columns, dtype=np.int32)
    for place in range(len(docs)):
        first, length = starts[docs[place]], lengths[place]
        held, scaled = codes.ctypes.data + 4 * first, scales.ctypes.data + 4 * first
        for lane in range(0, columns, LANES):
            highest, token = best.ctypes.data + 4 * lane, which.ctypes.data + 4 * lane
            nearest_tokens(near.ctypes.data + 4 * lane, 4 * columns, held, scaled, length, highest, token)
        opened[:length] = False
        total = 0.0
        for vector in range(count):
            at = which[vector]
            if not opened[at]:
                _unpack(residuals[first + at], runs, levels[at])
                opened[at] = True
            source, asked = levels.ctypes.data + at * slots, query.ctypes.data + vector * slots
            whole = np.float32(256) * np.float32(level_product(source, asked, slots // BLOCK))
            total += (near[codes[first + at], vector] + (steps[vector] * whole - middles[vector])) * scales[first + at]
        out[place] = total


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


@njit(cache=True, nogil=True)
def probed(near: F32, begin: int, best: F32, which: I32) -> None:
    """The nearest centroids of query vectors from one on, and their products, the highest first, the first of equals."""
    best[:] = _NOTHING
    last = best.shape[1] - 1
    for centroid in range(len(near)):
        for lane in range(len(best)):
            value = near[centroid, begin + lane]
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
