"""The inner loops of fusion, compiled by numba and cached on disk; `lexfuse.kernels.fusion` describes them.

Importing numba takes a second. Arrays must be read-only and contiguous (`lexfuse.kernels.compilation.read_only_view`), except
output arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I32, I64, Bools
from lexfuse.kernels.compilation import njit

U64 = NDArray[np.uint64]
HALF, LOWER, NONE = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFFFFFFFFFF)  # of the bits of an entry
WIDEST = 11  # bits of a digit
ONE = np.uint32(1)
FEW = 16  # ties sorted by insertion


@njit(cache=True, nogil=True)
def counted(bases: I64, starts: I64, docs: I32, documents: int) -> I64:
    """The number of different documents that the sources rank for each query."""
    sources, queries = starts.shape[0], starts.shape[1] - 1
    seen = np.full(documents, -1, dtype=np.int32)
    counts = np.zeros(queries, dtype=np.int64)
    for query in range(queries):
        for source in range(sources):
            for at in range(bases[source] + starts[source, query], bases[source] + starts[source, query + 1]):
                doc = docs[at]
                counts[query] += seen[doc] != query
                seen[doc] = query
    return counts


@njit(cache=True, nogil=True)
def aligned(
    bases: I64, starts: I64, docs: I32, scores: F32, documents: int, offsets: I64, union: I32, table: F64, places: I32
) -> None:
    """Fill in every document that a source ranks for a query, with each source's score and rank."""
    sources, queries = starts.shape[0], starts.shape[1] - 1
    slot = np.full(documents, -1, dtype=np.int64)
    for query in range(queries):
        first, size = offsets[query], offsets[query]
        for source in range(sources):
            begin, end = bases[source] + starts[source, query], bases[source] + starts[source, query + 1]
            listed, given = docs[begin:end], scores[begin:end]
            row, place = table[source, first : offsets[query + 1]], places[source, first : offsets[query + 1]]
            row[:] = np.nan
            place[:] = 0
            for at in range(len(listed)):
                doc = listed[at]
                to = slot[doc]
                if to < first:
                    to, size = size, size + 1
                    slot[doc] = to
                    union[to] = doc
                row[np.uint64(to - first)] = given[at]
                place[np.uint64(to - first)] = at + 1


@njit(cache=True, nogil=True)
def _falling(score: np.float32) -> np.uint64:
    """A number below 2**32 that rises as the score falls; equal for 0.0 and -0.0."""
    bits = np.int64(np.float32(score + np.float32(0.0)).view(np.int32))
    rising = bits if bits >= 0 else -(bits & 0x7FFFFFFF)
    return np.uint64(0x7FFFFFFF - rising)


@njit(cache=True, nogil=True)
def _sorted(entries: U64, spare: U64, order: I32) -> U64:
    """Sort entries by their upper half, and ties by the ``order`` of their lower half.

    A radix sort from the last digit, over only those bits in which scores differ.
    """
    low, high, size = NONE, np.uint64(0), len(entries)
    for entry in entries:
        low, high = min(low, entry), max(high, entry)
    low = low >> HALF << HALF
    bits = 0
    while size and (high - low) >> HALF >> np.uint64(bits):
        bits += 1
    digits = (bits + WIDEST - 1) // WIDEST
    width = (bits + digits - 1) // digits if digits else 0
    count, mask = np.empty(1 << width, dtype=np.uint32), np.uint64((1 << width) - 1)
    for number in range(digits):
        shift = HALF + np.uint64(number * width)
        count[:] = 0
        for at in range(size):
            count[((entries[at] - low) >> shift) & mask] += ONE
        total = np.uint32(0)
        for digit in range(len(count)):
            total, count[digit] = total + count[digit], total
        for at in range(size):
            entry = entries[at]
            digit = ((entry - low) >> shift) & mask
            to = count[digit]
            spare[to] = entry
            count[digit] = to + ONE
        entries, spare = spare, entries
    first = 0
    for last in range(1, size + 1):
        if last == size or entries[first] >> HALF != entries[last] >> HALF:
            if last - first > 1:
                _tied(entries[first:last], order)
            first = last
    return entries


@njit(cache=True, nogil=True)
def _tied(entries: U64, order: I32) -> None:
    """Sort tied entries by the order of their lower halves."""
    if len(entries) > FEW:
        where = (entries & LOWER).astype(np.int64)
        entries[:] = entries[np.argsort(order[where])]
        return
    for at in range(1, len(entries)):
        entry = entries[at]
        place = order[entry & LOWER]
        while at > 0 and order[entries[at - 1] & LOWER] > place:
            entries[at] = entries[at - 1]
            at -= 1
        entries[at] = entry


@njit(cache=True, nogil=True)
def _longest(offsets: I64) -> int:
    longest = 0
    for query in range(len(offsets) - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    return longest


@njit(cache=True, nogil=True)
def ranked(offsets: I64, scores: F32, known: Bools, listed: Bools, order: I32) -> I32:
    """The rank from 1 of every candidate of a query among those with a known score; 0 for the others."""
    ranks = np.zeros(len(scores), dtype=np.int32)
    entries = np.empty(_longest(offsets), dtype=np.uint64)
    spare = np.empty_like(entries)
    for query in range(len(offsets) - 1):
        begin, size = offsets[query], 0
        for at in range(begin, offsets[query + 1]):
            if known[at]:
                entries[size] = (_falling(scores[at]) << HALF) | np.uint64(at - begin)
                size += 1
        by_score = _sorted(entries[:size], spare[:size], order[begin:])
        before = np.int64(-1)
        for rank in range(size):
            at = begin + np.int64(by_score[rank] & LOWER)
            tied = before >= 0 and not listed[at] and not listed[before] and scores[at] == scores[before]
            ranks[at] = ranks[before] if tied else rank + 1
            before = at
    return ranks


@njit(cache=True, nogil=True)
def best(offsets: I64, scores: F32, order: I32, k: int) -> tuple[I64, I64]:
    """The best k candidates of every query: the offsets of their lists, and the candidates."""
    queries = len(offsets) - 1
    starts = np.zeros(queries + 1, dtype=np.int64)
    for query in range(queries):
        starts[query + 1] = starts[query] + min(k, offsets[query + 1] - offsets[query])
    chosen = np.empty(starts[queries], dtype=np.int64)
    entries = np.empty(_longest(offsets), dtype=np.uint64)
    spare = np.empty_like(entries)
    for query in range(queries):
        begin, size = offsets[query], offsets[query + 1] - offsets[query]
        for at in range(size):
            entries[at] = (_falling(scores[begin + at]) << HALF) | np.uint64(at)
        wanted = starts[query + 1] - starts[query]
        if wanted * 4 < size:
            border = np.partition(entries[:size], wanted - 1)[wanted - 1] | LOWER
            kept = 0
            for at in range(size):
                if entries[at] <= border:  # including all ties with the last
                    entries[kept] = entries[at]
                    kept += 1
            size = kept
        by_score = _sorted(entries[:size], spare[:size], order[begin:])
        for rank in range(wanted):
            chosen[starts[query] + rank] = begin + np.int64(by_score[rank] & LOWER)
    return starts, chosen


@njit(cache=True, nogil=True)
def smooth_ranks(offsets: I64, scores: F64, known: Bools, listed: Bools, beta: float) -> F64:
    """0.5 + the sum over the source's list of sigmoid(beta * (its score - the candidate's)); 0 if unknown."""
    ranks = np.zeros(len(scores))
    for query in range(len(offsets) - 1):
        begin, end = offsets[query], offsets[query + 1]
        size = 0
        own = np.empty(end - begin)
        for at in range(begin, end):
            if listed[at]:
                own[size] = scores[at]
                size += 1
        own = np.sort(own[:size])
        for at in range(begin, end):
            if known[at]:
                # Beyond 40 / beta the sigmoid is 0 or 1 to the last significant bit.
                low = np.searchsorted(own, scores[at] - 40.0 / beta)
                high = np.searchsorted(own, scores[at] + 40.0 / beta)
                total = 0.5 + (size - high)
                for other in range(low, high):
                    total += 1.0 / (1.0 + np.exp(-beta * (own[other] - scores[at])))
                ranks[at] = total
    return ranks
