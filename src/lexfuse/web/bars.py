"""Bars: values on a common scale that includes zero."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """Start and width of a bar, and the place of zero, in percent of the total width."""

    start: float
    width: float
    zero: float


def bar_of(value: float, values: Iterable[float]) -> Bar:
    """The bar of a value among the values it is shown with; negative values extend to the left of zero.

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
