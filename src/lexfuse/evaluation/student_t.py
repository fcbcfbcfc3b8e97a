"""Student's t distribution: the probability of a tail, and quantiles.

The tail is half of the regularised incomplete beta function I_x(freedom / 2, 1 / 2) at x = freedom / (freedom + t²), which a
continued fraction gives to ten digits or more (Numerical Recipes, section 6.4).
"""

from __future__ import annotations

import math

_TINY, _ENOUGH = 1e-300, 1e-15


def t_tail(freedom: float, t: float) -> float:
    """The probability that a value lies above |t|.

    >>> round(t_tail(10, 2.228), 3)
    0.025
    """
    below, above = freedom / (freedom + t * t), t * t / (freedom + t * t)
    return 0.5 * _incomplete_beta(freedom / 2, 0.5, below, above)


def t_quantile(freedom: float, share: float) -> float:
    """The value that a share of all values, half or more, lies below.

    >>> round(t_quantile(10, 0.975), 3)
    2.228
    """
    low, high = 0.0, 1.0
    while t_tail(freedom, high) > 1.0 - share:
        low, high = high, 2.0 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if t_tail(freedom, middle) > 1.0 - share else (low, middle)
    return high


def _incomplete_beta(a: float, b: float, x: float, y: float) -> float:
    """I_x(a, b), where y is 1 - x."""
    if x > (a + 1) / (a + b + 2):  # there the fraction of the other side converges fast
        return 1.0 - _incomplete_beta(b, a, y, x)
    if x == 0.0:
        return 0.0
    powers = a * (math.log1p(-y) if y < x else math.log(x)) + b * (math.log1p(-x) if x < y else math.log(y))
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + powers) / a
    ratio, change = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1))
    fraction, step = change, 0
    while True:
        step += 1
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            change = 1.0 / _away(1.0 + term * change)
            ratio = _away(1.0 + term / ratio)
            fraction *= change * ratio
        if abs(change * ratio - 1.0) <= _ENOUGH:
            return front * fraction


def _away(value: float) -> float:
    """The value, away from 0."""
    return value if abs(value) > _TINY else _TINY
