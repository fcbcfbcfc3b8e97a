"""The exact best k documents of a query, by blocks of documents; compiled by numba and cached on disk.

A block's scores stay in the core's cache while posting lists are summed. Then only scores at or above a floor are kept, a value
that at least k documents are certain to reach, so that little more than k are kept. Positive floats compare like their bits, and
the compiler vectorises integer comparisons in a plain loop: all passes over scores are such loops.

Everything is in one file because numba checks only the file of a function for changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I32, I64, Bools
from lexfuse.kernels.compilation import njit

U64 = NDArray[np.uint64]

BLOCK = 1 << 16  # documents summed at once: 256 KiB of scores fit the second-level cache
LANES = 1 << 10  # lanes (or four times k) whose maxima raise the floor
CHUNK = 64  # scores compared with the floor at once
SPARSE = 8  # if a block has this many times more documents than postings, only the postings are visited
SHRINK = 4096  # kept documents (or four times k) after which the floor rises and those below it are dropped
RADIX = 64  # with more keys, radix sort is faster
DIGIT = 8  # bits
HIGHEST = 0x7FFFFFFF  # above the bits of every score


@njit(cache=True, nogil=True)
def best_of(
    query_starts: I64,
    range_starts: I64,
    range_ends: I64,
    factors: F32,
    docs: I32,
    impacts: F32,
    order: I32,
    within: Bools,
    k: int,
) -> tuple[I64, I32, F32]:
    """The result of `lexfuse.kernels.postings.best`, with the same arguments; arrays must be read-only."""
    queries = len(query_starts) - 1
    documents = len(order)
    k = min(k, documents)
    width = min(BLOCK, -(-documents // CHUNK) * CHUNK)
    scores = np.zeros(width, dtype=np.float32)
    bits = scores.view(np.int32)
    maxima = np.empty(min(width, max(LANES, 4 * k)), dtype=np.int32)
    keys = np.empty(documents, dtype=np.uint64)
    spare = np.empty(documents, dtype=np.uint64)
    ends = range_starts.copy()  # of the summed part of each list
    counts = np.zeros(queries + 1, dtype=np.int64)
    found_docs = np.empty(queries * k, dtype=np.int32)
    found_bits = np.empty(queries * k, dtype=np.int32)
    size = 0
    for query in range(queries):
        parts = slice(query_starts[query], query_starts[query + 1])
        maxima[:] = 0
        floor = np.int32(1)
        taken = 0
        shrink = max(4 * k, SHRINK)
        for base in range(0, documents, BLOCK):
            end = min(base + BLOCK, documents)
            begins = ends[parts].copy()
            postings = _add_up(
                begins, ends[parts], range_ends[parts], factors[parts], docs, impacts, base, end, documents, scores
            )
            if postings == 0:
                continue
            if SPARSE * postings < width:
                taken = _keep_visited(begins, ends[parts], docs, base, bits, floor, within, keys, taken)
            else:
                if len(within) > 0:
                    _blank(bits, within[base:end])
                _fold(bits, maxima)
                floor = _raised(maxima, floor, k)
                taken = _keep(bits, base, floor, keys, taken)
                bits[:] = 0
            if taken > shrink:
                floor, taken = _shrunk(keys, taken, floor, k)
                shrink = max(shrink, 2 * taken)  # ties may keep many
        ranked = _sorted(keys[:taken], spare, order, k)
        for rank in range(min(k, taken)):
            found_docs[size] = ranked[rank] & np.uint64(HIGHEST)
            found_bits[size] = HIGHEST - (ranked[rank] >> np.uint64(32))
            size += 1
        counts[query + 1] = size
    return counts, found_docs[:size].copy(), found_bits[:size].copy().view(np.float32)


@njit(cache=True, nogil=True)
def _add_up(
    begins: I64, ends: I64, limits: I64, factors: F32, docs: I32, impacts: F32, base: int, end: int, documents: int, scores: F32
) -> int:
    """Add the postings of documents before ``end`` to the scores, update the list ends, and count the postings."""
    postings = 0
    first = np.uint32(base)
    for part in range(len(begins)):
        begin, stop = begins[part], limits[part]
        if end < documents:
            stop = _first_from(docs, begin, stop, end)
        ends[part] = stop
        postings += stop - begin
        factor = factors[part]
        for at in range(np.uint64(begin), np.uint64(stop)):  # unsigned, since numba lets negative indices count from the end
            scores[np.uint32(docs[at]) - first] += factor * impacts[at]
    return postings


@njit(cache=True, nogil=True)
def _first_from(docs: I32, begin: int, end: int, wanted: int) -> int:
    """The first position in a list with a document not before the wanted one; near positions are found faster."""
    low, step = begin, 1
    while low + step <= end and docs[low + step - 1] < wanted:
        low += step
        step *= 2
    high = min(low + step - 1, end)
    while low < high:
        middle = (low + high) // 2
        if docs[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _blank(bits: I32, within: Bools) -> None:
    """Clear the scores of documents that the mask excludes."""
    for doc in range(len(within)):
        bits[doc] = bits[doc] if within[doc] else np.int32(0)


@njit(cache=True, nogil=True)
def _fold(bits: I32, maxima: I32) -> None:
    """The highest score so far per lane: at least as many documents reach a value as lanes do."""
    lanes = len(maxima)
    for start in range(0, len(bits), lanes):
        row = bits[start : start + lanes]
        for lane in range(len(row)):
            maxima[lane] = max(maxima[lane], row[lane])


@njit(cache=True, nogil=True)
def _raised(values: I32, floor: np.int32, k: int) -> np.int32:
    """A floor, not lower than the given one, that at least k values reach if there are k; close to the k-th value."""
    top = np.int32(0)
    for at in range(len(values)):
        top = max(top, values[at])
    low, high = np.int64(floor), np.int64(top) + 1  # k reach low (or none need to), fewer reach high
    step = np.int64(1 << 21)  # in bits: a quarter octave of the scores, then growing
    while high - step > low:
        if _reaching(values, np.int32(high - step)) >= k:
            low = high - step
        else:
            high -= step
            step *= 2
    for _ in range(7):
        middle = (low + high) // 2
        if middle <= low:
            break
        if _reaching(values, np.int32(middle)) >= k:
            low = middle
        else:
            high = middle
    return np.int32(low)


@njit(cache=True, nogil=True)
def _reaching(values: I32, floor: np.int32) -> np.int32:
    count = np.int32(0)
    for at in range(len(values)):
        count += np.int32(values[at] >= floor)
    return count


@njit(cache=True, nogil=True)
def _key(bits: np.int32, doc: int) -> np.uint64:
    """Ascending keys are descending scores, then ascending documents."""
    return (np.uint64(HIGHEST - bits) << np.uint64(32)) | np.uint64(doc)


@njit(cache=True, nogil=True)
def _keep(bits: I32, base: int, floor: np.int32, keys: U64, taken: int) -> int:
    """Keep the documents of a block that reach the floor."""
    for start in range(0, len(bits), CHUNK):
        chunk = bits[start : start + CHUNK]
        reached = np.int32(0)
        for at in range(CHUNK):
            reached |= np.int32(chunk[at] >= floor)
        if reached:
            for at in range(CHUNK):
                if chunk[at] >= floor:
                    keys[taken] = _key(chunk[at], base + start + at)
                    taken += 1
    return taken


@njit(cache=True, nogil=True)
def _keep_visited(
    begins: I64, ends: I64, docs: I32, base: int, bits: I32, floor: np.int32, within: Bools, keys: U64, taken: int
) -> int:
    """The same by visiting the postings, which also clears the scores, so that no document is met twice."""
    for part in range(len(begins)):
        for at in range(begins[part], ends[part]):
            doc = docs[at]
            score = bits[doc - base]
            bits[doc - base] = 0
            if score >= floor and (len(within) == 0 or within[doc]):
                keys[taken] = _key(score, doc)
                taken += 1
    return taken


@njit(cache=True, nogil=True)
def _shrunk(keys: U64, taken: int, floor: np.int32, k: int) -> tuple[np.int32, int]:
    """A higher floor, and the number of keys that reach it, which move to the front."""
    bits = np.empty(taken, dtype=np.int32)
    for at in range(taken):
        bits[at] = HIGHEST - np.int64(keys[at] >> np.uint64(32))
    floor = _raised(bits, floor, k)
    kept = 0
    for at in range(taken):
        keys[kept] = keys[at]
        kept += bits[at] >= floor
    return floor, kept


@njit(cache=True, nogil=True)
def _sorted(keys: U64, spare: U64, order: I32, k: int) -> U64:
    """Keys sorted by score, ties by ``order``; the keys after the k best are in any order."""
    if len(keys) > RADIX:
        keys = _by_digits(keys, spare[: len(keys)])
    else:
        keys.sort()
    start = 0
    while start < min(k, len(keys)):
        end = start + 1
        rising = True
        while end < len(keys) and (keys[end] ^ keys[start]) >> np.uint64(32) == 0:
            rising &= order[keys[end - 1] & np.uint64(HIGHEST)] < order[keys[end] & np.uint64(HIGHEST)]
            end += 1
        if not rising:
            high = (keys[start] >> np.uint64(32)) << np.uint64(32)
            tied = np.empty(end - start, dtype=np.uint64)
            for at in range(start, end):
                doc = keys[at] & np.uint64(HIGHEST)
                tied[at - start] = (np.uint64(order[doc]) << np.uint64(32)) | doc
            tied.sort()
            for at in range(start, end):
                keys[at] = high | (tied[at - start] & np.uint64(HIGHEST))
        start = end
    return keys


@njit(cache=True, nogil=True)
def _by_digits(keys: U64, spare: U64) -> U64:
    """Stable sort by the scores in keys, lowest digit first; only digits in which they differ cost time."""
    lowest = keys[0]
    highest = keys[0]
    for at in range(len(keys)):
        lowest, highest = min(lowest, keys[at]), max(highest, keys[at])
    lowest = (lowest >> np.uint64(32)) << np.uint64(32)
    shift = np.uint64(32)
    mask = np.uint64((1 << DIGIT) - 1)
    places = np.empty((1 << DIGIT) + 1, dtype=np.uint32)
    while shift < np.uint64(64) and (highest - lowest) >> shift:
        places[:] = 0
        for at in range(len(keys)):
            places[(((keys[at] - lowest) >> shift) & mask) + np.uint64(1)] += np.uint32(1)
        for digit in range(1 << DIGIT):
            places[digit + 1] += places[digit]
        for at in range(len(keys)):
            digit = ((keys[at] - lowest) >> shift) & mask
            spare[places[digit]] = keys[at]
            places[digit] += np.uint32(1)
        keys, spare = spare, keys
        shift += np.uint64(DIGIT)
    return keys
