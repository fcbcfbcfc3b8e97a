"""A cache of results for short texts. A query may have any length, and long texts are not kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

LONGEST_KEPT = 200  # characters of a text, or members of a tuple
ANSWERS_KEPT = 65536

Answer = TypeVar("Answer")
_CLEARS: list[Callable[[], None]] = []


def cached_if_short(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """Cache the results of a function for short texts; long texts are computed every time.

    >>> shout = cached_if_short(str.upper)
    >>> shout("loi"), len(shout("loi" * 1000))
    ('LOI', 3000)
    """
    cached = lru_cache(maxsize=ANSWERS_KEPT)(function)
    _CLEARS.append(cached.cache_clear)

    @wraps(function)
    def answer(*arguments: Any) -> Answer:
        for argument in arguments:
            if isinstance(argument, str | tuple) and len(argument) > LONGEST_KEPT:
                return function(*arguments)
        return cached(*arguments)

    return answer


def forget_all() -> None:
    """Clear every cache, so that a measurement starts like a new process."""
    for clear in _CLEARS:
        clear()
