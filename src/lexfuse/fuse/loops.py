"""The inner loops of fusion, compiled by numba and cached on disk; `lexfuse.fuse.aligning` says what they do.

Importing this takes a second for numba alone. Arrays must be read-only and contiguous, as `lexfuse.index.compiled.fixed`
makes them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I32, I64, Bools

U64 = NDArray[np.uint64]
LOW = 0xFFFFFFFF


@njit(cache=True, nogil=True)
def aligned(bases: I64, starts: I64, docs: I32, scores: F32, documents: int) -> tuple[I64, I32, F64, I32]:
    """Every document that a source ranks for a query once, with each source's score and place."""
    sources, queries = starts.shape[0], starts.shape[1] - 1
    slot = np.full(documents, -1, dtype=np.int64)
    offsets = np.zeros(queries + 1, dtype=np.int64)
    union = np.empty(len(docs), dtype=np.int32)
    size = 0
    for query in range(queries):
        first = size
        for source in range(sources):
            for at in range(bases[source] + starts[source, query], bases[source] + starts[source, query + 1]):
                if slot[docs[at]] < first:
                    slot[docs[at]] = size
                    union[size] = docs[at]
                    size += 1
        offsets[query + 1] = size
    table = np.full((sources, size), np.nan)
    places = np.zeros((sources, size), dtype=np.int32)
    for query in range(queries):
        for at in range(offsets[query], offsets[query + 1]):
            slot[union[at]] = at
        for source in range(sources):
            begin = bases[source] + starts[source, query]
            for at in range(begin, bases[source] + starts[source, query + 1]):
                to = slot[docs[at]]
                table[source, to] = scores[at]
                places[source, to] = at - begin + 1
    return offsets, union[:size].copy(), table, places


@njit(cache=True, nogil=True)
def _key(score: np.float32, order: np.int32) -> np.uint64:
    """Ascending keys are descending scores, then ascending places in the order of ids."""
    bits = np.int64(np.float32(score + np.float32(0.0)).view(np.int32))
    rising = bits if bits >= 0 else -(bits & 0x7FFFFFFF)
    return (np.uint64(0x7FFFFFFF - rising) << np.uint64(32)) | np.uint64(order)


@njit(cache=True, nogil=True)
def ranked(offsets: I64, scores: F32, known: Bools, order: I32) -> I32:
    """The rank from 1 of every candidate of a query among those whose score is known; 0 for the others."""
    ranks = np.zeros(len(scores), dtype=np.int32)
    for query in range(len(offsets) - 1):
        begin, end = offsets[query], offsets[query + 1]
        keys = np.empty(end - begin, dtype=np.uint64)
        where = np.empty(end - begin, dtype=np.int64)
        size = 0
        rising = True
        for at in range(begin, end):
            if known[at]:
                keys[size] = _key(scores[at], order[at])
                rising = rising and (size == 0 or keys[size - 1] < keys[size])
                where[size] = at
                size += 1
        if rising:  # a source's own list comes in order, and is the first part of most unions
            for rank in range(size):
                ranks[where[rank]] = rank + 1
            continue
        by_key = np.argsort(keys[:size])
        for rank in range(size):
            ranks[where[by_key[rank]]] = rank + 1
    return ranks


@njit(cache=True, nogil=True)
def best(offsets: I64, scores: F32, order: I32, k: int) -> tuple[I64, I64]:
    """The best k candidates of every query: where their lists start, and which candidates they are."""
    queries = len(offsets) - 1
    starts = np.zeros(queries + 1, dtype=np.int64)
    for query in range(queries):
        starts[query + 1] = starts[query] + min(k, offsets[query + 1] - offsets[query])
    chosen = np.empty(starts[queries], dtype=np.int64)
    for query in range(queries):
        begin, end = offsets[query], offsets[query + 1]
        keys = np.empty(end - begin, dtype=np.uint64)
        for at in range(begin, end):
            keys[at - begin] = _key(scores[at], order[at])
        wanted = starts[query + 1] - starts[query]
        if wanted * 4 < len(keys):
            border = np.partition(keys, wanted - 1)[wanted - 1] if wanted else np.uint64(0)
            few = np.flatnonzero(keys <= border)
            by_key = few[np.argsort(keys[few])]
        else:
            by_key = np.argsort(keys)
        for rank in range(wanted):
            chosen[starts[query] + rank] = begin + by_key[rank]
    return starts, chosen


@njit(cache=True, nogil=True)
def smooth_ranks(offsets: I64, scores: F64, known: Bools, listed: Bools, beta: float) -> F64:
    """0.5 + the sum over the source's own list of sigmoid(beta * (its score - the candidate's)); 0 where none is known."""
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
                # Beyond 40 / beta the sigmoid is 0 or 1 to the last bit that counts.
                low = np.searchsorted(own, scores[at] - 40.0 / beta)
                high = np.searchsorted(own, scores[at] + 40.0 / beta)
                total = 0.5 + (size - high)
                for other in range(low, high):
                    total += 1.0 / (1.0 + np.exp(-beta * (own[other] - scores[at])))
                ranks[at] = total
    return ranks
