"""Bars: values on one common scale, which holds zero."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a bar begins and how long it is, in hundredths of the width; `zero` is where nothing is.

    >>> Bar(0.0, 50.0, 0.0).width
    50.0
    """

    start: float
    width: float
    zero: float


def bar_of(value: float, values: Iterable[float]) -> Bar:
    """The bar of a value among all values that it is shown with; bars of negative values go to the left from zero.

    >>> bar_of(1.0, [1.0, 2.0]), bar_of(-1.0, [-1.0, 1.0]), bar_of(0.0, [0.0])
    (Bar(start=0.0, width=50.0, zero=0.0), Bar(start=0.0, width=50.0, zero=50.0), Bar(start=0.0, width=0.0, zero=0.0))
    """
    shown = [0.0, value, *values]
    low, high = min(shown), max(shown)
    if low == high:
        return Bar(0.0, 0.0, 0.0)
    unit = 100 / (high - low)
    zero = round(abs(low) * unit, 2)
    width = round(abs(value) * unit, 2)
    return Bar(zero if value >= 0 else round(zero - width, 2), width, zero)
