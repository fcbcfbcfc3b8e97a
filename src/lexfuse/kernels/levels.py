"""Numbers in 1, 2, 4 or 8 bits: equally spaced levels, as many bits for each number as its variance deserves.

A number x with w bits and the step s becomes the level floor(x / s) + 2^(w-1), kept within 0 and 2^w - 1; it stands for the
middle of its interval, (level - (2^w - 1) / 2) * s. Numbers that share a width are packed so that one shift and one mask decode a
whole register: with n bytes, byte j holds the numbers j, n + j, 2n + j and so on, from the lowest bits upwards.

Steps are fitted to a sample, starting from the best ones for a normal variable (Max 1960).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I64, offsets_of, read_only

U8 = NDArray[np.uint8]
Whole = TypeVar("Whole", np.int8, np.int16)
WIDTHS = (0, 1, 2, 4, 8)
# Squared error of a normal variable of variance 1, and the step that reaches it.
_ERRORS = {0: 1.0, 1: 0.3634, 2: 0.1188, 4: 0.01154, 8: 0.0001}
_STEPS = {1: 1.596, 2: 0.9957, 4: 0.3352, 8: 0.0308}
_FACTORS = np.linspace(0.7, 1.6, 19)  # of the step for a normal variable
_TOGETHER = 4  # levels that compiled loops multiply at once


def allotted(variances: F64, total: int) -> U8:
    """The width of each number, in at most `total` bits: bits go where they lower the squared error most.

    >>> allotted(np.array([16.0, 1.0, 0.01]), 6).tolist()
    [4, 2, 0]
    """
    steps = [
        (-(_ERRORS[low] - _ERRORS[high]) / (high - low) * variance, low, high, at)
        for at, variance in enumerate(variances.tolist())
        for low, high in pairwise(WIDTHS)
    ]
    widths = np.zeros(len(variances), dtype=np.uint8)
    for _, low, high, at in sorted(steps, key=lambda step: step[0]):
        if widths[at] == low and high - low <= total:
            widths[at] = high
            total -= high - low
    return widths


def fitted_steps(values: F32, widths: U8, spreads: F64) -> F32:
    """The step of every number with the least squared error, from a sample and the standard deviations.

    >>> values = np.random.default_rng(0).normal(size=(1000, 2)).astype(np.float32)
    >>> (fitted_steps(values, np.array([4, 1], np.uint8), np.ones(2)) > 0.3).tolist()
    [True, True]
    """
    usual = spreads * np.array([_STEPS[width] for width in widths.tolist()])
    errors = []
    for factor in _FACTORS:
        steps = (factor * usual).astype(np.float32)
        stored = centred(levels_of(values / steps, widths), widths) * steps
        errors.append(np.square(values - stored, dtype=np.float64).sum(axis=0))
    found: F32 = (_FACTORS[np.argmin(errors, axis=0)] * usual).astype(np.float32)
    return found


def levels_of(values: F32, widths: U8) -> U8:
    """The levels of numbers that are divided by their steps.

    >>> levels_of(np.array([[-9.0, 0.2, 1.5]], np.float32), np.array([2, 2, 1], np.uint8)).tolist()
    [[0, 2, 1]]
    """
    counts = 1 << widths.astype(np.int32)
    found: U8 = np.clip(np.floor(values) + counts // 2, 0, counts - 1).astype(np.uint8)
    return found


def centred(levels: U8, widths: U8) -> F32:
    """What levels stand for, in steps.

    >>> centred(np.array([[0, 3]], np.uint8), np.array([2, 2], np.uint8)).tolist()
    [[-1.5, 1.5]]
    """
    found: F32 = levels.astype(np.float32) - centres(widths)
    return found


def centres(widths: U8) -> F32:
    """The middle of the levels of each number."""
    return (((1 << widths.astype(np.int64)) - 1) / 2).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class LevelLayout:
    """Where levels are in bytes, and in a row of decoded levels, which compiled loops read four at a time.

    >>> layout = LevelLayout.of(np.array([4, 4, 4, 1], np.uint8))
    >>> layout.bytes, layout.slots, layout.places.tolist()
    (3, 12, [0, 1, 2, 4])
    >>> layout.unpacked(layout.packed(np.array([[15, 0, 7, 1]], np.uint8))).tolist()
    [[15, 0, 7, 1]]
    """

    runs: I64  # for each width: bits, bytes, the first byte, the first decoded level
    places: I64  # the decoded level of each number
    bytes: int
    slots: int  # decoded levels, with those that no number has

    @classmethod
    def of(cls, widths: U8) -> LevelLayout:
        """The layout of numbers with these widths, which must not ascend."""
        bits, counts = np.unique(widths.astype(np.int64), return_counts=True)
        bits, counts = bits[::-1], counts[::-1]
        sizes = -(-counts * bits // 8)
        bytes_at, slots_at = offsets_of(sizes), offsets_of(sizes * 8 // bits)
        runs = np.stack([bits, sizes, bytes_at[:-1], slots_at[:-1]], axis=1)
        places = np.concatenate([first + np.arange(count) for first, count in zip(slots_at[:-1], counts, strict=True)])
        slots = -(-int(slots_at[-1]) // _TOGETHER) * _TOGETHER
        return cls(read_only(runs), read_only(places), int(bytes_at[-1]), slots)

    def placed(self, numbers: NDArray[Whole]) -> NDArray[Whole]:
        """Rows of whole numbers at the places of the decoded levels that they are multiplied by; 0 at all others."""
        rows = np.zeros((len(numbers), self.slots), dtype=numbers.dtype)
        rows[:, self.places] = numbers
        return rows

    def packed(self, levels: U8) -> U8:
        """The bytes of every row of levels."""
        rows = np.zeros((len(levels), self.slots), dtype=np.uint8)
        rows[:, self.places] = levels
        found = np.zeros((len(levels), self.bytes), dtype=np.uint8)
        for bits, size, byte, slot in self.runs.tolist():
            for number in range(8 // bits):
                some = rows[:, slot + number * size : slot + (number + 1) * size]
                found[:, byte : byte + size] |= some << np.uint8(number * bits)
        return found

    def unpacked(self, packed: U8) -> U8:
        """The levels of every row of bytes."""
        rows = np.zeros((len(packed), self.slots), dtype=np.uint8)
        for bits, size, byte, slot in self.runs.tolist():
            for number in range(8 // bits):
                some = packed[:, byte : byte + size] >> np.uint8(number * bits)
                rows[:, slot + number * size : slot + (number + 1) * size] = some & np.uint8((1 << bits) - 1)
        return rows[:, self.places]
