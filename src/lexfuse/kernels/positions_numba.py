"""The compiled loop of `lexfuse.kernels.positions`."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import I32, I64
from lexfuse.kernels.compilation import njit


@njit(cache=True, nogil=True)
def ranks(ascending: I32, wanted: I32, right: bool) -> I64:
    """How many numbers are below each wanted one, or with `right` not above it; ever longer steps from the last place."""
    found = np.empty(len(wanted), dtype=np.int64)
    size = len(ascending)
    low = 0
    for at in range(len(wanted)):
        bound = np.int64(wanted[at]) + (1 if right else 0)  # count what is below this
        if at and wanted[at] < wanted[at - 1]:
            low = 0
        step, high = 1, low
        while high < size and ascending[high] < bound:
            low = high + 1
            high += step
            step *= 2
        high = min(high, size)
        while low < high:
            middle = (low + high) // 2
            if ascending[middle] < bound:
                low = middle + 1
            else:
                high = middle
        found[at] = low
    return found
