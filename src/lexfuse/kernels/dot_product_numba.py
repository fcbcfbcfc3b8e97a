"""The inner loops of dense search and of RPRS, which compares vectors of sentences, compiled by numba and cached on disk.

Arrays must be read-only and contiguous (`lexfuse.kernels.compilation.read_only_view`), except output arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I32, I64, Bools
from lexfuse.kernels.compilation import njit

LANES = 32  # as `lexfuse.channels.dense.exact_scores` defines scores
UNDERFLOW = 2.0**-120  # what products of tiny numbers may lose


@njit(cache=True, nogil=True)
def _dot(query: F32, row: NDArray[Any], sums: F64) -> np.float64:
    """The dot product in the order of additions of `lexfuse.channels.dense.exact_scores`; ``sums`` is overwritten."""
    dimension = len(query)
    whole = dimension // LANES * LANES
    sums[:] = 0.0
    for first in range(0, whole, LANES):
        for lane in range(LANES):
            sums[lane] += np.float64(query[first + lane]) * np.float64(row[first + lane])
    for lane in range(dimension - whole):
        sums[lane] += np.float64(query[whole + lane]) * np.float64(row[whole + lane])
    half = LANES // 2
    while half:
        for lane in range(half):
            sums[lane] += sums[half + lane]
        half //= 2
    return np.float64(sums[0])


@njit(cache=True, nogil=True)
def add_dots(matrix: NDArray[Any], scales: F32, queries: F32, query: I64, row: I64, scores: F64) -> None:
    """The dot product of each pair, in the defined order of additions; ``scales`` has one value per pair, or is empty."""
    sums = np.empty(LANES, dtype=np.float64)
    for pair in range(len(query)):
        product = _dot(queries[query[pair]], matrix[row[pair]], sums)
        scores[pair] = product * np.float64(scales[pair]) if len(scales) else product


@njit(cache=True, nogil=True)
def take_halves(bits: NDArray[np.uint16], row: I64, taken: F32) -> None:
    """Rows of 16-bit floats, given by their bits, as 32-bit floats; none may be infinite or no number.

    The bits are moved to their places in a 32-bit float, whose exponent then is 112 too low. Multiplying by a power of two is
    exact, also for numbers so small that their exponent is zero. The compiler turns this into vector instructions.
    """
    patterns, scale = taken.view(np.uint32), np.float32(2.0**112)
    for at in range(len(row)):
        line, pattern, values = bits[row[at]], patterns[at], taken[at]
        for column in range(bits.shape[1]):
            half = np.uint32(line[column])
            pattern[column] = (half & np.uint32(0x7FFF)) << np.uint32(13) | (half & np.uint32(0x8000)) << np.uint32(16)
        for column in range(bits.shape[1]):
            values[column] *= scale


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
    codes: NDArray[np.int8],
    scales: F32,
    rows: I32,
    firsts: I64,
    lasts: I64,
    query: NDArray[np.int16],
    step: np.float32,
    error: np.float32,
    allowed: Bools,
    k: int,
    least: float,
    found: I64,
    lower: F32,
    upper: F32,
) -> int:
    """Rows of several ranges that may be among the best k and may reach ``least``; returns how many. With k = 0 all may.

    ``found``, ``lower`` and ``upper`` get the rows and the bounds of their scores. The floor is the k-th highest lower bound so
    far: the root of a heap. It rises fastest if the ranges with the best rows come first.
    """
    dimension = codes.shape[1]
    floors = np.full(k, np.float32(-np.inf), dtype=np.float32)
    floor = least
    size = 0
    for part in range(len(firsts)):
        for place in range(firsts[part], lasts[part]):
            if len(allowed) and not allowed[rows[place]]:
                continue
            line = codes[place]
            total = np.int32(0)
            for at in range(dimension):
                total = np.int32(total + np.int32(line[at]) * np.int32(query[at]))
            score = step * np.float32(total)
            above = scales[place] * (score + error)
            if np.float64(above) < floor:
                continue
            below = scales[place] * (score - error)
            found[size], lower[size], upper[size] = rows[place], below, above
            size += 1
            if k and below > floors[0]:
                _replace_lowest(floors, below)
                floor = max(np.float64(floors[0]) - UNDERFLOW, least)
    kept = 0
    for at in range(size):
        if np.float64(upper[at]) >= floor:
            found[kept], lower[kept], upper[kept] = found[at], lower[at], upper[at]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _replace_lowest(heap: F32, value: np.float32) -> None:
    """Put a higher value in the place of the lowest one of a heap."""
    at = 0
    while 2 * at + 1 < len(heap):
        child = 2 * at + 1
        if child + 1 < len(heap) and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@njit(cache=True, nogil=True)
def keep_nearest(quick: F32, queries: F32, rows: F32, base: int, order: I32, error: float, cosines: F32, kept: I32) -> None:
    """Keep the best rows of each query by exact scores, best first, given the fast scores of a block of rows.

    ``cosines`` and ``kept`` hold the best so far. Rows that cannot be among them, given the error of a fast score, are skipped.
    """
    last = kept.shape[1] - 1
    sums = np.empty(LANES, dtype=np.float64)
    margin = np.float32(error)
    for query in range(quick.shape[0]):
        best, places, asked = cosines[query], kept[query], queries[query]
        floor = best[last] - margin
        for column in range(quick.shape[1]):
            if quick[query, column] < floor:
                continue
            exact = np.float32(_dot(asked, rows[column], sums))
            row = base + column
            if exact < best[last] or (exact == best[last] and places[last] >= 0 and order[row] > order[places[last]]):
                continue
            at = last
            while at > 0 and (
                places[at - 1] < 0 or exact > best[at - 1] or (exact == best[at - 1] and order[row] < order[places[at - 1]])
            ):
                best[at], places[at] = best[at - 1], places[at - 1]
                at -= 1
            best[at], places[at] = exact, row
            floor = best[last] - margin


@njit(cache=True, nogil=True)
def tallied(kept: I32, n: int, owner: I32, documents: int) -> tuple[I32, I32]:
    """How many query sentences have c of a candidate's sentences among their n, and how many of these are in f lists."""
    met = np.zeros((documents, n + 1), dtype=np.int32)
    frequency = np.zeros(len(owner), dtype=np.int32)
    count = np.zeros(documents, dtype=np.int32)
    highest = 0
    for sentence in range(kept.shape[0]):
        for at in range(n):
            row = kept[sentence, at]
            if row >= 0:
                count[owner[row]] += 1
                frequency[row] += 1
                highest = max(highest, frequency[row])
        for at in range(n):
            row = kept[sentence, at]
            if row >= 0 and count[owner[row]]:
                met[owner[row], count[owner[row]]] += 1
                count[owner[row]] = 0
    uses = np.zeros((documents, highest + 1), dtype=np.int32)
    for row in range(len(owner)):
        if frequency[row]:
            uses[owner[row], frequency[row]] += 1
    return met, uses


@njit(cache=True, nogil=True)
def saturated(counts: I32, penalty: F64, sums: F64) -> None:
    """The sum over c of counts[c] * c / (c + penalty) for every candidate: eq. 6 and 7 of RPRS."""
    for document in range(counts.shape[0]):
        total = 0.0
        for c in range(1, counts.shape[1]):
            if counts[document, c]:
                total += counts[document, c] * (c / (c + penalty[document]))
        sums[document] = total


@njit(cache=True, nogil=True)
def grid_ranks(
    met: I32, uses: I32, lengths: I64, sentences: int, average: float, k1s: F64, b_s: F64, order: I32, hits: I64, ranks: I32
) -> None:
    """The rank of some candidates among all that have sentences, for every k1 and b; scores are compared in 32 bits."""
    documents = len(lengths)
    penalty, query_sum, document_sum = np.empty(documents), np.empty(documents), np.empty(documents)
    scores = np.empty(documents, dtype=np.float32)
    for first in range(len(k1s)):
        for second in range(len(b_s)):
            for document in range(documents):
                penalty[document] = k1s[first] * ((1.0 - b_s[second]) + b_s[second] * lengths[document] / average)
            saturated(met, penalty, query_sum)
            saturated(uses, penalty, document_sum)
            for document in range(documents):
                length = max(lengths[document], 1)
                scores[document] = np.float32((query_sum[document] / sentences) * (document_sum[document] / length))
            for at in range(len(hits)):
                own = hits[at]
                rank = 1
                for document in range(documents):
                    if lengths[document] and (
                        scores[document] > scores[own] or (scores[document] == scores[own] and order[document] < order[own])
                    ):
                        rank += 1
                ranks[first, second, at] = rank
