"""Ranks of relevant documents under many weights at once, compiled by numba; `lexfuse.tune.surface` says what for."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.index.jit import njit


@njit(cache=True, nogil=True)
def hit_ranks(offsets: I64, values: F64, order: I32, weights: F64, hit_starts: I64, hits: I64) -> I32:
    """The rank of every hit (a candidate) among the candidates of its query, for every row of weights.

    Scores are summed source after source in 64 bits and compared in 32, as a fusion does.
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
    """One more than the candidates with a higher score, or an equal one and a name that comes before."""
    rank = np.int32(1)
    equal = np.int32(0)
    for at in range(len(fused)):
        rank += np.int32(fused[at] > fused[own])
        equal += np.int32(fused[at] == fused[own])
    if equal > 1:
        for at in range(len(fused)):
            rank += np.int32(fused[at] == fused[own] and order[at] < order[own])
    return rank
