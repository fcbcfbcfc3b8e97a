"""The inner loops of the inverted file, compiled by numba and cached on disk; `lexfuse.kernels.postings` describes them.

Importing numba takes a second. Arrays must be read-only and contiguous (`read_only_view`): numba compiles again for every other
kind, and mapped files are read-only.
"""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F32, I32, I64
from lexfuse.kernels.compilation import njit


@njit(cache=True, nogil=True)
def invert(starts: I64, terms: I32, weights: F32, numbers: I32) -> tuple[I64, I32, F32, F32]:
    """Posting lists of documents: one pass sums and counts, one fills."""
    documents = len(starts) - 1
    counts = np.zeros(len(numbers), dtype=np.int64)
    lengths = np.zeros(documents, dtype=np.float32)
    place = np.full(len(numbers), -1, dtype=np.int64)  # of each term in the postings of this document
    row_starts = np.zeros(documents + 1, dtype=np.int64)
    row_terms = np.empty(len(terms), dtype=np.uint32)
    row_sums = np.empty(len(terms), dtype=np.float32)
    size = 0
    for doc in range(documents):
        first = size
        length = np.float32(0.0)
        for at in range(starts[doc], starts[doc + 1]):
            term = np.uint32(terms[at])
            weight = weights[at] if len(weights) else np.float32(1.0)
            length += weight
            if place[term] < first:
                place[term] = size
                row_terms[size] = term
                row_sums[size] = weight
                counts[term] += 1
                size += 1
            else:
                row_sums[place[term]] += weight
        lengths[doc] = length
        row_starts[doc + 1] = size
    offsets = np.zeros(len(numbers) + 1, dtype=np.int64)
    for at in range(len(numbers)):
        offsets[numbers[at] + 1] = counts[at]
    for at in range(len(numbers)):
        offsets[at + 1] += offsets[at]
    slot = np.empty(len(numbers), dtype=np.int64)
    for at in range(len(numbers)):
        slot[at] = offsets[numbers[at]]
    docs = np.empty(size, dtype=np.int32)
    sums = np.empty(size, dtype=np.float32)
    for doc in range(documents):
        for at in range(row_starts[doc], row_starts[doc + 1]):
            to = slot[row_terms[at]]
            docs[to] = doc
            sums[to] = row_sums[at]
            slot[row_terms[at]] = to + 1
    return offsets, docs, sums, lengths


@njit(cache=True, nogil=True)
def distinct(starts: I64, terms: I32, term_count: int) -> tuple[I64, I32, F32]:
    """The distinct terms of each query, with their counts."""
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
    """The score of every pair: the documents of a query are looked for in each posting list in ascending order.

    Each search starts where the last one ended, with steps that double, so that it reads what is near in memory.
    """
    scores = np.zeros(len(query), dtype=np.float32)
    first = 0
    while first < len(query):
        last = first
        while last < len(query) and query[last] == query[first]:
            last += 1
        ascending = first + np.argsort(doc[first:last])
        for part in range(row_starts[query[first]], row_starts[query[first] + 1]):
            low, end = range_starts[part], range_ends[part]
            for pair in ascending:
                low = _place(docs, doc[pair], low, end)
                if low == end:
                    break
                if docs[low] == doc[pair]:
                    scores[pair] += factors[part] * impacts[low]
        first = last
    return scores


@njit(cache=True, nogil=True)
def _place(docs: I32, wanted: int, low: int, end: int) -> int:
    """The first place from ``low`` whose document is not below the one that is wanted."""
    high, step = low, 1
    while high < end and docs[high] < wanted:
        low = high + 1
        high += step
        step *= 2
    high = min(high, end)
    while low < high:
        middle = (low + high) // 2
        if docs[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def row_scores(docs: I32, starts: I64, terms: I32, impacts: F32, asked: I32, factors: F32, term_count: int) -> F32:
    """The score of every document: its weights are put in the order of the query, then summed."""
    place = np.full(term_count, -1, dtype=np.int32)
    for at in range(len(asked)):
        place[asked[at]] = at
    weights = np.zeros(len(asked), dtype=np.float32)
    scores = np.zeros(len(docs), dtype=np.float32)
    for row in range(len(docs)):
        for at in range(starts[docs[row]], starts[docs[row] + 1]):
            own = place[terms[at]]
            if own >= 0:
                weights[own] = impacts[at]
        score = np.float32(0.0)
        for at in range(len(asked)):
            score += factors[at] * weights[at]
            weights[at] = 0
        scores[row] = score
    return scores
