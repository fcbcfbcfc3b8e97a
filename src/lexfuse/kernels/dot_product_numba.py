"""The inner loops of dense search, compiled by numba and cached on disk.

Arrays must be read-only and contiguous (`lexfuse.kernels.compilation.read_only_view`), except output arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I64, Bools
from lexfuse.kernels.jit import njit

LANES = 32  # as `lexfuse.channels.dense.exact_scores` defines scores


@njit(cache=True, nogil=True)
def add_dots(matrix: NDArray[Any], scales: F32, queries: F32, query: I64, row: I64, scores: F64) -> None:
    """The dot product of each pair, in the defined order of additions; ``scales`` has one value per pair, or is empty."""
    dimension = queries.shape[1]
    whole = dimension // LANES * LANES
    sums = np.empty(LANES, dtype=np.float64)
    for pair in range(len(query)):
        asked, line = queries[query[pair]], matrix[row[pair]]
        sums[:] = 0.0
        for first in range(0, whole, LANES):
            for lane in range(LANES):
                sums[lane] += np.float64(asked[first + lane]) * np.float64(line[first + lane])
        for lane in range(dimension - whole):
            sums[lane] += np.float64(asked[whole + lane]) * np.float64(line[whole + lane])
        half = LANES // 2
        while half:
            for lane in range(half):
                sums[lane] += sums[half + lane]
            half //= 2
        scores[pair] = sums[0] * np.float64(scales[pair]) if len(scales) else sums[0]


@njit(cache=True, nogil=True)
def scan(
    codes: NDArray[np.int8],
    scales: F32,
    bounds: I64,
    query: NDArray[np.int16],
    step: np.float32,
    error: np.float32,
    allowed: Bools,
    upper: F32,
    group_lower: F32,
    group_upper: F32,
) -> None:
    """Upper bounds of the scores of rows, and the highest lower and upper bound of each group of rows.

    Products of bytes and 16-bit numbers are summed in 32-bit integers, which the compiler turns into the processor's
    multiply-and-add of 16-bit pairs; that depends on these exact types.
    """
    dimension = codes.shape[1]
    for group in range(len(bounds) - 1):
        lowest, highest = np.float32(-np.inf), np.float32(-np.inf)
        for row in range(bounds[group], bounds[group + 1]):
            if len(allowed) and not allowed[row]:
                upper[row] = -np.inf
                continue
            line = codes[row]
            total = np.int32(0)
            for at in range(dimension):
                total = np.int32(total + np.int32(line[at]) * np.int32(query[at]))
            score = step * np.float32(total)
            above = scales[row] * (score + error)
            upper[row] = above
            lowest = max(lowest, scales[row] * (score - error))
            highest = max(highest, above)
        group_lower[group] = lowest
        group_upper[group] = highest


@njit(cache=True, nogil=True)
def scan_ranges(
    codes: NDArray[np.int8], scales: F32, firsts: I64, lasts: I64, query: NDArray[np.int16], step: np.float32, scores: F32
) -> None:
    """The scores of the rows of several ranges, concatenated."""
    dimension = codes.shape[1]
    size = 0
    for part in range(len(firsts)):
        for row in range(firsts[part], lasts[part]):
            line = codes[row]
            total = np.int32(0)
            for at in range(dimension):
                total = np.int32(total + np.int32(line[at]) * np.int32(query[at]))
            scores[size] = scales[row] * (step * np.float32(total))
            size += 1
