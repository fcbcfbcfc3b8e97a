"""Where lines cross, compiled by numba; `lexfuse.tune.exact` says what for."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F64, I32, I64
from lexfuse.index.jit import njit


@njit(cache=True, nogil=True)
def crossings(first: F64, second: F64, order: I32, hits: I64) -> tuple[I32, I64, F64, I32]:
    """For each hit its rank just above alpha = 0, and every alpha in (0, 1) at which a candidate passes it or falls behind.

    Gives the ranks, where the events of each hit start, their alphas, and +1 (passed) or -1 for each. The score of a candidate
    is a line in alpha, first + alpha * (second - first); two lines cross once at most.
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
