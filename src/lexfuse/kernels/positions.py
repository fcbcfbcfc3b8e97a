"""Loops over ascending positions of words: words that follow each other, and words near each other.

`ranks`, which nearly all of the work is, exists twice: compiled by numba, and in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import I32, I64, Bools
from lexfuse.kernels.compilation import compiled_is_due, read_only_views

_PER_RANK = 20  # numpy steps


def ranks(ascending: I32, wanted: I32, *, right: bool = False) -> I64:
    """How many numbers are below each wanted one, or with `right` not above it; fast where the wanted ones ascend too.

    >>> ranks(np.array([2, 5], np.int32), np.array([2, 9], np.int32)).tolist()
    [0, 2]
    >>> ranks(np.array([2, 5], np.int32), np.array([2, 9], np.int32), right=True).tolist()
    [1, 2]
    """
    if compiled_is_due(_PER_RANK * len(wanted)):
        from lexfuse.kernels import positions_numba

        compiled: I64 = positions_numba.ranks(*read_only_views(ascending, wanted), right)
        return compiled
    return np.searchsorted(ascending, wanted, side="right" if right else "left")


def held(sorted_positions: I32, wanted: I32) -> Bools:
    """Which of some positions are among others; both ascend.

    >>> held(np.array([2, 5], np.int32), np.array([1, 2, 5], np.int32)).tolist()
    [False, True, True]
    """
    if not len(sorted_positions):
        return np.zeros(len(wanted), dtype=np.bool_)
    at = ranks(sorted_positions, wanted)
    at[at == len(sorted_positions)] = 0
    found: Bools = sorted_positions[at] == wanted
    return found


def sequences(words: Sequence[Sequence[I32]]) -> I32:
    """Where words begin that follow each other, given the positions of each in one or more lists; the rarest is looked at first.

    >>> sequences([[np.array([1, 4], np.int32)], [np.array([2], np.int32), np.array([7], np.int32)]]).tolist()
    [1]
    """
    order = sorted(range(len(words)), key=lambda at: sum(map(len, words[at])))
    starts = united(words[order[0]]) - np.int32(order[0])
    for at in order[1:]:
        if not len(starts):
            break
        wanted = starts + np.int32(at)
        there = np.zeros(len(wanted), dtype=np.bool_)
        for positions in words[at]:
            there |= held(positions, wanted)
        starts = starts[there]
    return starts


def united(lists: Sequence[I32]) -> I32:
    """Ascending lists of different positions as one.

    >>> united([np.array([4], np.int32), np.array([1, 7], np.int32)]).tolist()
    [1, 4, 7]
    """
    if len(lists) == 1:
        return lists[0]
    every: I32 = np.sort(np.concatenate([np.empty(0, dtype=np.int32), *lists]), kind="stable")
    return every


def shared(units: Sequence[I64], count: int) -> I64:
    """The numbers below a count that occur in every one of some lists; some of them repeatedly.

    >>> shared([np.array([2, 0]), np.array([0, 1, 0])], 3).tolist()
    [0, 0]
    """
    found, *others = sorted(units, key=len, reverse=True)
    for other in others:
        flags = np.zeros(count, dtype=np.bool_)
        flags[other] = True
        found = found[flags[found]]
    return found


def followed(ends: I32, starts: I32, distance: int) -> tuple[I32, I32]:
    """The ends that have a start after them within a distance, and the nearest such start of each; starts ascend.

    >>> [array.tolist() for array in followed(np.array([1, 9], np.int32), np.array([1, 4, 12], np.int32), 3)]
    [[1, 9], [4, 12]]
    """
    if not len(starts):
        return ends[:0], starts
    at = ranks(starts, ends, right=True)
    there = np.flatnonzero(at < len(starts))
    nearest = starts[at[there]]
    near = nearest - ends[there] <= distance
    return ends[there][near], nearest[near]
