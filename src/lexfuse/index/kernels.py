"""The inner loops of the inverted file, compiled by numba and cached on disk.

Nothing here approximates: every posting of every query term is added up, and the best k are chosen by
score descending, then by `order` ascending (the position of a document's id among all ids). The compiled code
behind `best` is in `lexfuse.index.topk`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I32, I64, Bools
from lexfuse.index.topk import best_of


def invert(starts: I64, terms: I32, weights: F32, term_count: int) -> tuple[I64, I32, F32, F32]:
    """Turn documents (term ids in CSR, a weight each) into posting lists with documents ascending.

    Gives the offsets of each term's list, documents, summed weights, and the length of each document.

    >>> offsets, docs, sums, _ = invert(np.array([0, 2, 3]), np.array([1, 1, 0], np.int32), np.ones(3, np.float32), 2)
    >>> offsets.tolist(), docs.tolist(), sums.tolist()
    ([0, 1, 2], [1, 0], [1.0, 2.0])
    """
    inverted: tuple[I64, I32, F32, F32] = _invert(_fixed(starts), _fixed(terms), _fixed(weights), term_count)
    return inverted


def distinct(starts: I64, terms: I32, term_count: int) -> tuple[I64, I32, F32]:
    """Each query's terms once, in order of first occurrence, with how often they occur.

    >>> [array.tolist() for array in distinct(np.array([0, 3]), np.array([5, 2, 5], np.int32), 6)]
    [[0, 2], [5, 2], [2.0, 1.0]]
    """
    rows: tuple[I64, I32, F32] = _distinct(_fixed(starts), _fixed(terms), term_count)
    return rows


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

    >>> starts, ends, ones = np.array([0, 2]), np.array([2, 3]), np.ones(2, np.float32)
    >>> docs, impacts = np.array([0, 1, 1], np.int32), np.array([2, 1, 3], np.float32)
    >>> every, order = np.empty(0, np.bool_), np.array([0, 1], np.int32)
    >>> [array.tolist() for array in best(np.array([0, 2]), starts, ends, ones, docs, impacts, order, every, 10)]
    [[0, 2], [1, 0], [4.0, 2.0]]
    """
    queries = _fixed(query_starts), _fixed(range_starts), _fixed(range_ends), _fixed(factors)
    found: tuple[I64, I32, F32] = best_of(*queries, _fixed(docs), _fixed(impacts), _fixed(order), _fixed(within), k)
    return found


def pair_scores(
    query: I32, doc: I32, row_starts: I64, range_starts: I64, range_ends: I64, factors: F32, docs: I32, impacts: F32
) -> F32:
    """The score of every pair of query and document, added up in the order of `best`, so that it has the same bits.

    >>> one = np.ones(1, np.float32)
    >>> zero = np.zeros(1, np.int32)
    >>> pair_scores(zero, zero, np.array([0, 1]), np.array([0]), np.array([1]), 2 * one, zero, 3 * one).tolist()
    [6.0]
    """
    pairs = _fixed(query), _fixed(doc)
    rows = _fixed(row_starts), _fixed(range_starts), _fixed(range_ends), _fixed(factors)
    scores: F32 = _pair_scores(*pairs, *rows, _fixed(docs), _fixed(impacts))
    return scores


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: numba compiles anew for writable arrays, and mapped files are read-only already."""
    view: NDArray[Any] = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True)
def _invert(starts: I64, terms: I32, weights: F32, term_count: int) -> tuple[I64, I32, F32, F32]:
    documents = len(starts) - 1
    last = np.full(term_count, -1, dtype=np.int32)
    offsets = np.zeros(term_count + 1, dtype=np.int64)
    for doc in range(documents):
        for at in range(starts[doc], starts[doc + 1]):
            term = np.uint32(terms[at])
            if last[term] != doc:
                last[term] = doc
                offsets[term + 1] += 1
    for at in range(term_count):
        offsets[at + 1] += offsets[at]
    slot = offsets[:-1].copy()
    last[:] = -1
    docs = np.empty(offsets[-1], dtype=np.int32)
    sums = np.zeros(offsets[-1], dtype=np.float32)
    lengths = np.zeros(documents, dtype=np.float32)
    for doc in range(documents):
        for at in range(starts[doc], starts[doc + 1]):
            term = np.uint32(terms[at])
            if last[term] != doc:
                last[term] = doc
                docs[slot[term]] = doc
                slot[term] += 1
            sums[slot[term] - 1] += weights[at]
            lengths[doc] += weights[at]
    return offsets, docs, sums, lengths


@njit(cache=True, nogil=True)
def _distinct(starts: I64, terms: I32, term_count: int) -> tuple[I64, I32, F32]:
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
def _pair_scores(
    query: I32, doc: I32, row_starts: I64, range_starts: I64, range_ends: I64, factors: F32, docs: I32, impacts: F32
) -> F32:
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
