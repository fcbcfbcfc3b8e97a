"""The inner loops of the inverted file, compiled by numba and cached on disk.

Nothing here approximates: every posting of every query term is added up, and the best k are chosen by
score descending, then by `order` ascending (the position of a document's id among all ids).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from lexfuse.data.arrays import F32, I32, I64, Bools


@njit(cache=True, nogil=True)
def invert(starts: I64, terms: I32, weights: F32, term_count: int) -> tuple[I64, I32, F32, F32]:
    """Turn documents (term ids in CSR, a weight each) into posting lists with documents ascending.

    Gives the offsets of each term's list, documents, summed weights, and the length of each document.
    """
    documents = len(starts) - 1
    last = np.full(term_count, -1, dtype=np.int32)
    offsets = np.zeros(term_count + 1, dtype=np.int64)
    for doc in range(documents):
        for at in range(starts[doc], starts[doc + 1]):
            term = terms[at]
            if last[term] != doc:
                last[term] = doc
                offsets[term + 1] += 1
    for term in range(term_count):
        offsets[term + 1] += offsets[term]
    slot = offsets[:-1].copy()
    last[:] = -1
    docs = np.empty(offsets[-1], dtype=np.int32)
    sums = np.zeros(offsets[-1], dtype=np.float32)
    lengths = np.zeros(documents, dtype=np.float32)
    for doc in range(documents):
        for at in range(starts[doc], starts[doc + 1]):
            term = terms[at]
            if last[term] != doc:
                last[term] = doc
                docs[slot[term]] = doc
                slot[term] += 1
            sums[slot[term] - 1] += weights[at]
            lengths[doc] += weights[at]
    return offsets, docs, sums, lengths


@njit(cache=True, nogil=True)
def best(
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
    """The best k documents of every query, as offsets, documents and scores.

    A query is a row of ranges into the postings, each with the factor of its term. `within` is empty or one
    flag per document. Documents whose score is not above zero are not returned.
    """
    queries = len(query_starts) - 1
    documents = len(order)
    scores = np.zeros(documents, dtype=np.float32)
    candidates = np.empty(documents, dtype=np.int32)
    at_order = np.empty(documents, dtype=np.int32)
    for doc in range(documents):
        at_order[order[doc]] = doc
    counts = np.zeros(queries + 1, dtype=np.int64)
    found_docs = np.empty(queries * min(k, documents), dtype=np.int32)
    found_scores = np.empty(queries * min(k, documents), dtype=np.float32)
    size = 0
    for query in range(queries):
        scores[:] = 0.0
        for part in range(query_starts[query], query_starts[query + 1]):
            factor = factors[part]
            for at in range(range_starts[part], range_ends[part]):
                scores[docs[at]] += factor * impacts[at]
        if len(within) > 0:
            for doc in range(documents):
                scores[doc] = scores[doc] if within[doc] else np.float32(0.0)
        taken = _candidates(scores, k, candidates)
        keys = np.empty(taken, dtype=np.uint64)
        bits = scores.view(np.uint32)
        for at in range(taken):
            doc = candidates[at]
            keys[at] = (np.uint64(0xFFFFFFFF - bits[doc]) << np.uint64(32)) | np.uint64(order[doc])
        keys.sort()
        for rank in range(min(k, taken)):
            doc = at_order[np.int64(keys[rank] & np.uint64(0xFFFFFFFF))]
            found_docs[size] = doc
            found_scores[size] = scores[doc]
            size += 1
        counts[query + 1] = size
    return counts, found_docs[:size].copy(), found_scores[:size].copy()


@njit(cache=True, nogil=True)
def _candidates(scores: F32, k: int, candidates: I32) -> int:
    """Few documents that hold the best k, ties included: all above a floor found by counting.

    Positive floats compare like their bits, and counting integers above a floor is a loop the compiler turns
    into vector instructions: a few such passes cost less than one that touches a heap or a histogram.
    """
    bits = scores.view(np.int32)
    top = np.int32(0)
    for doc in range(len(bits)):
        if bits[doc] > top:
            top = bits[doc]
    if top <= 0:
        return 0
    high = np.int64(top)  # fewer than k lie above it
    step = np.int64(1 << 22)  # of the bits: half an octave of the scores, then ever more
    low = max(high - step, np.int64(1))
    while low > 1 and _above(bits, np.int32(low)) < k:
        high = low
        step *= 2
        low = max(low - step, np.int64(1))
    for _ in range(4):  # close in on the k-th score
        middle = low + (high - low) // 2
        if middle <= low:
            break
        if _above(bits, np.int32(middle)) >= k:
            low = middle
        else:
            high = middle
    taken = 0
    for doc in range(len(bits)):
        if bits[doc] >= low:
            candidates[taken] = doc
            taken += 1
    return taken


@njit(cache=True, nogil=True)
def _above(bits: I32, floor: np.int32) -> int:
    """How many are at least this high."""
    count = 0
    for doc in range(len(bits)):
        count += bits[doc] >= floor
    return count


@njit(cache=True, nogil=True)
def distinct(starts: I64, terms: I32, term_count: int) -> tuple[I64, I32, F32]:
    """Each query's terms once, in order of first occurrence, with how often they occur."""
    place = np.full(term_count, -1, dtype=np.int64)
    new_starts = np.zeros(len(starts), dtype=np.int64)
    new_terms = np.empty(len(terms), dtype=np.int32)
    counts = np.zeros(len(terms), dtype=np.float32)
    size = 0
    for query in range(len(starts) - 1):
        first = size
        for at in range(starts[query], starts[query + 1]):
            term = terms[at]
            if place[term] < first:
                place[term] = size
                new_terms[size] = term
                size += 1
            counts[place[term]] += np.float32(1.0)
        new_starts[query + 1] = size
    return new_starts, new_terms[:size], counts[:size]


@njit(cache=True, nogil=True)
def pair_scores(
    query: I32, doc: I32, row_starts: I64, range_starts: I64, range_ends: I64, factors: F32, docs: I32, impacts: F32
) -> F32:
    """The score of every pair, added up in the order of `best`, so that it has the same bits."""
    scores = np.zeros(len(query), dtype=np.float32)
    for pair in range(len(query)):
        wanted = doc[pair]
        for part in range(row_starts[query[pair]], row_starts[query[pair] + 1]):
            low, high = range_starts[part], range_ends[part]
            while low < high:
                middle = (low + high) // 2
                if docs[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low < range_ends[part] and docs[low] == wanted:
                scores[pair] += factors[part] * impacts[low]
    return scores
