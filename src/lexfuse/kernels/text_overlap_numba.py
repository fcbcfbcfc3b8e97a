"""Edit distance, longest common subsequence and common elements of coded texts, compiled by numba.

Used by `lexfuse.advice.evidence.verbatim_overlap`. Both dynamic programmes process 64 words of one text at a time as the bits of
an integer (Myers 1999 and, for the subsequence, Hyyrö 2004), stripe by stripe; the state between two stripes is kept for each
word of the other text. So texts of any length need memory for two columns only, without truncation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import I32, I64
from lexfuse.kernels.compilation import njit

_NONE, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def edits_and_subsequences(starts: I64, words: I32, first: I64, second: I64, vocabulary: int) -> tuple[I64, I64]:
    """Edit distance and length of the common subsequence for pairs of texts (rows of a CSR table of coded words)."""
    edits = np.empty(len(first), dtype=np.int64)
    subsequences = np.empty(len(first), dtype=np.int64)
    masks = np.zeros(vocabulary, dtype=np.uint64)  # positions of each word in the stripe
    for pair in range(len(first)):
        a = words[starts[first[pair]] : starts[first[pair] + 1]]
        b = words[starts[second[pair]] : starts[second[pair] + 1]]
        if len(a) > len(b):
            a, b = b, a
        edits[pair], subsequences[pair] = _compared(a, b, masks)
    return edits, subsequences


@njit(cache=True, nogil=True)
def _compared(a: I32, b: I32, masks: NDArray[np.uint64]) -> tuple[int, int]:
    steps = np.ones(len(b), dtype=np.int8)  # from one column to the next in the row above the stripe: 0, 1, 2, … at the top
    carries = np.zeros(len(b), dtype=np.uint64)
    subsequence = 0
    for begin in range(0, len(a), 64):
        stripe = a[begin : begin + 64]
        for row in range(len(stripe)):
            masks[stripe[row]] |= _ONE << np.uint64(row)
        _edit_stripe(b, masks, np.uint64(len(stripe) - 1), steps)
        subsequence += _subsequence_stripe(b, masks, len(stripe), carries)
        for row in range(len(stripe)):
            masks[stripe[row]] = _NONE
    edits = len(a)
    for column in range(len(b)):
        edits += int(steps[column])
    return edits, subsequence


@njit(cache=True, nogil=True)
def _edit_stripe(b: I32, masks: NDArray[np.uint64], last: np.uint64, steps: NDArray[np.int8]) -> None:
    """Replace the steps of the row above the stripe by those of its last row."""
    up, down = _ALL, _NONE  # whether the distance rises or falls from one row to the next
    for column in range(len(b)):
        step = steps[column]
        same = masks[b[column]]
        vertical = same | down
        if step < 0:
            same |= _ONE
        horizontal = (((same & up) + up) ^ up) | same
        rising = down | ~(horizontal | up)
        falling = up & horizontal
        steps[column] = np.int8((rising >> last) & _ONE) - np.int8((falling >> last) & _ONE)
        rising <<= _ONE
        falling <<= _ONE
        if step < 0:
            falling |= _ONE
        elif step > 0:
            rising |= _ONE
        up = falling | ~(vertical | rising)
        down = rising & vertical


@njit(cache=True, nogil=True)
def _subsequence_stripe(b: I32, masks: NDArray[np.uint64], rows: int, carries: NDArray[np.uint64]) -> int:
    """The share of the stripe in the length; a bit becomes 0 where a row lengthens the subsequence."""
    bits = _ALL
    for column in range(len(b)):
        same = bits & masks[b[column]]
        total = bits + same
        carry = np.uint64(total < bits)
        total += carries[column]
        carry |= np.uint64(total < carries[column])
        carries[column] = carry
        bits = total | (bits & ~masks[b[column]])
    length = 0
    for row in range(rows):
        length += 1 - int((bits >> np.uint64(row)) & _ONE)
    return length


@njit(cache=True, nogil=True)
def common_elements(starts: I64, elements: I64, first: I64, second: I64) -> I64:
    """The number of common elements for pairs of rows, each of distinct elements in ascending order."""
    counts = np.zeros(len(first), dtype=np.int64)
    for pair in range(len(first)):
        a, a_end = starts[first[pair]], starts[first[pair] + 1]
        b, b_end = starts[second[pair]], starts[second[pair] + 1]
        while a < a_end and b < b_end:
            if elements[a] < elements[b]:
                a += 1
            elif elements[a] > elements[b]:
                b += 1
            else:
                counts[pair] += 1
                a += 1
                b += 1
    return counts
