"""Ranks of relevant documents under many weights at once, compiled by numba."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.kernels.compilation import njit


@njit(cache=True, nogil=True)
def hit_ranks(offsets: I64, values: F64, order: I32, weights: F64, hit_starts: I64, hits: I64) -> I32:
    """The rank of every hit (a candidate) among the candidates of its query, for every row of weights.

    Scores are summed source by source in 64 bits and compared in 32, as in fusion.
    """
    points, sources = weights.shape
    ranks = np.empty((points, len(hits)), dtype=np.int32)
    longest = 0
    for query in range(len(offsets) - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    total = np.empty(longest)
    fused = np.empty(longest, dtype=np.float32)
    for query in range(len(offsets) - 1):
        begin, size = offsets[query], offsets[query + 1] - offsets[query]
        if hit_starts[query] == hit_starts[query + 1]:
            continue
        for point in range(points):
            total[:size] = 0.0
            for source in range(sources):
                weight = weights[point, source]
                row = values[source, begin : begin + size]
                for at in range(size):
                    total[at] += weight * row[at]
            for at in range(size):
                fused[at] = np.float32(total[at])
            for hit in range(hit_starts[query], hit_starts[query + 1]):
                ranks[point, hit] = _rank(fused[:size], order[begin : begin + size], hits[hit] - begin)
    return ranks


@njit(cache=True, nogil=True)
def _rank(fused: F32, order: I32, own: int) -> np.int32:
    """One more than the candidates with a higher score, or with an equal score and an earlier name."""
    rank = np.int32(1)
    equal = np.int32(0)
    for at in range(len(fused)):
        rank += np.int32(fused[at] > fused[own])
        equal += np.int32(fused[at] == fused[own])
    if equal > 1:
        for at in range(len(fused)):
            rank += np.int32(fused[at] == fused[own] and order[at] < order[own])
    return rank


@njit(cache=True, nogil=True)
def crossings(first: F64, second: F64, order: I32, hits: I64) -> tuple[I32, I64, F64, I32]:
    """For each hit its rank just above alpha = 0, and every alpha in (0, 1) at which a candidate passes it or falls behind.

    Returns the ranks, the offsets of each hit's events, their alphas, and +1 (passed) or -1 for each. The score of a candidate is
    a line in alpha, first + alpha * (second - first); two lines cross at most once.
    """
    count, size = len(hits), len(first)
    ranks = np.ones(count, dtype=np.int32)
    starts = np.zeros(count + 1, dtype=np.int64)
    for at in range(count):
        hit = hits[at]
        events = 0
        for other in range(size):
            begin, end = first[other] - first[hit], second[other] - second[hit]
            events += (begin > 0 and end < 0) or (begin < 0 and end > 0)
        starts[at + 1] = starts[at] + events
    alphas = np.empty(starts[count])
    steps = np.empty(starts[count], dtype=np.int32)
    for at in range(count):
        hit, to, rank = hits[at], starts[at], 1
        for other in range(size):
            begin, end = first[other] - first[hit], second[other] - second[hit]
            if begin > 0 or (begin == 0 and (end > 0 or (end == 0 and order[other] < order[hit]))):
                rank += 1
            if (begin > 0 and end < 0) or (begin < 0 and end > 0):
                alphas[to] = begin / (begin - end)
                steps[to] = 1 if begin < 0 else -1
                to += 1
        ranks[at] = rank
    return ranks, starts, alphas, steps
