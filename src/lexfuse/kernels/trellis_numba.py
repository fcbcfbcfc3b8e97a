"""The loop of `lexfuse.kernels.trellis`, compiled by numba and cached on disk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32
from lexfuse.kernels.compilation import njit

_STATES = 256
_FEW = 8  # adjacent states: with fewer, a loop over them does not pay


@njit(cache=True, nogil=True)
def paths(values: F32, bits: NDArray[np.uint8], gains: F32, table: F32, states: NDArray[np.uint8]) -> None:
    """The states with the least squared error for every vector, the first of equals.

    All costs are kept: the predecessor of a state is computed on the way back, for the best path only.
    """
    numbers = len(bits)
    costs = np.zeros((numbers + 1, _STATES), dtype=np.float32)
    low = np.empty(_STATES, dtype=np.float32)
    scaled = np.empty((numbers, _STATES), dtype=np.float32)
    for at in range(numbers):
        scaled[at] = gains[at] * table
    for row in range(len(values)):
        for at in range(numbers):
            own, wanted, value, after = int(bits[at]), values[row, at], scaled[at], costs[at + 1]
            _lowest(costs[at], _STATES >> own, low)
            for state in range(_STATES):
                error = wanted - value[state]
                after[state] = low[state >> own] + error * error
        state = 0
        for other in range(1, _STATES):
            state = other if costs[numbers, other] < costs[numbers, state] else state
        states[row, numbers] = state
        for at in range(numbers - 1, -1, -1):
            own = int(bits[at])
            state = state >> own
            for other in range(state + (_STATES >> own), _STATES, _STATES >> own):
                state = other if costs[at, other] < costs[at, state] else state
            states[row, at] = state


@njit(cache=True, nogil=True, inline="always")
def _lowest(costs: F32, groups: int, low: F32) -> None:
    """The lowest cost of the states that differ only in the bits that are shifted out."""
    if groups < _FEW:
        for group in range(groups):
            least = costs[group]
            for state in range(group + groups, _STATES, groups):
                least = costs[state] if costs[state] < least else least
            low[group] = least
        return
    low[:groups] = costs[:groups]
    for first in range(groups, _STATES, groups):
        some = costs[first : first + groups]
        for group in range(groups):
            low[group] = some[group] if some[group] < low[group] else low[group]
