"""Loops over ascending positions of words: words that follow each other, and words near each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import I32, Bools


def held(sorted_positions: I32, wanted: I32) -> Bools:
    """Which of some positions are among others; both ascend.

    >>> held(np.array([2, 5], np.int32), np.array([1, 2, 5], np.int32)).tolist()
    [False, True, True]
    """
    if not len(sorted_positions):
        return np.zeros(len(wanted), dtype=np.bool_)
    at = np.searchsorted(sorted_positions, wanted)
    at[at == len(sorted_positions)] = 0
    found: Bools = sorted_positions[at] == wanted
    return found


def sequences(words: Sequence[I32]) -> I32:
    """Where words begin that follow each other, given the positions of each; the rarest is looked at first.

    >>> sequences([np.array([1, 4], np.int32), np.array([2, 7], np.int32)]).tolist()
    [1]
    """
    order = sorted(range(len(words)), key=lambda at: len(words[at]))
    starts = words[order[0]] - np.int32(order[0])
    for at in order[1:]:
        if not len(starts):
            break
        starts = starts[held(words[at], starts + np.int32(at))]
    return starts


def followed(ends: I32, starts: I32, distance: int) -> tuple[I32, I32]:
    """The ends that have a start after them within a distance, and the nearest such start of each; starts ascend.

    >>> [array.tolist() for array in followed(np.array([1, 9], np.int32), np.array([1, 4, 12], np.int32), 3)]
    [[1, 9], [4, 12]]
    """
    if not len(starts):
        return ends[:0], starts
    at = np.searchsorted(starts, ends, side="right")
    there = np.flatnonzero(at < len(starts))
    nearest = starts[at[there]]
    near = nearest - ends[there] <= distance
    return ends[there][near], nearest[near]
