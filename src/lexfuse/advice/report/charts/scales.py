"""From values to places: linear and logarithmic axes with round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinearScale:
    """Values from `low` to `high`, laid out from `start` to `end`.

    >>> LinearScale(0, 10, 100, 200)(5)
    150.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Round values within the range, about so many.

        >>> LinearScale(0, 1, 0, 1).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        step = _round_step(self.high - self.low, count)
        digits = max(0, 2 - math.floor(math.log10(step)))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(at * step, digits) + 0.0 for at in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class LogarithmicScale:
    """Positive values from `low` to `high`, equal ratios at equal distances.

    >>> LogarithmicScale(1, 100, 0, 200)(10)
    100.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + math.log(value / self.low) / math.log(self.high / self.low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Powers of ten within the range, with 2 and 5 times (or 3 times) them as long as there are few.

        >>> LogarithmicScale(1, 100, 0, 1).ticks()
        [1.0, 3.0, 10.0, 30.0, 100.0]
        >>> LogarithmicScale(1, 12, 0, 1).ticks()
        [1.0, 2.0, 5.0, 10.0]
        """
        powers = range(math.floor(math.log10(self.low)) - 1, math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            values = [float(f"{factor}e{power}") for power in powers for factor in factors]
            within = [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]
            if len(within) <= count:
                return within
        return within[:: math.ceil(len(within) / count)]


def span(
    values: Iterable[float], *, margin: float = 0.05, floor: float | None = None, ceiling: float | None = None
) -> tuple[float, float]:
    """The range of all finite values, a little wider, but not beyond `floor` and `ceiling`; (0, 1) where there are none.

    >>> span([1.0, 3.0, math.nan], margin=0.5)
    (0.0, 4.0)
    >>> span([2.0]), span([])
    ((1.5, 2.5), (0.0, 1.0))
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    wider = (high - low) * margin
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-12):
        wider = 0.25 * abs(low) or 0.5
    low, high = low - wider, high + wider
    low, high = low if floor is None else max(low, floor), high if ceiling is None else min(high, ceiling)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def tick_words(ticks: list[float]) -> list[str]:
    """Ticks with as many decimals as they need to differ, and a true minus sign.

    >>> tick_words([-0.5, 0.0, 0.25])
    ['−0.50', '0.00', '0.25']
    >>> tick_words([1000.0, 20000.0])
    ['1,000', '20,000']
    """
    decimals = next((count for count in range(8) if all(math.isclose(round(t, count), t, abs_tol=1e-12) for t in ticks)), 8)
    return [f"{tick:,.{decimals}f}".replace("-", "−") for tick in ticks]


def short_words(ticks: list[float]) -> list[str]:
    """Each tick as short as it can be said: for logarithmic axes.

    >>> short_words([0.5, 10.0, 2000.0])
    ['0.5', '10', '2,000']
    """
    return [tick_words([tick])[0] for tick in ticks]


def _round_step(width: float, count: int) -> float:
    rough = width / count
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.8)
