"""A cache of answers about short texts. What a question holds may be of any length, and long texts are not kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

LONGEST_KEPT = 200  # characters of a text, or members of a tuple
ANSWERS_KEPT = 65536

Answer = TypeVar("Answer")
_CLEARS: list[Callable[[], None]] = []


def cached_if_short(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """A function that remembers its answers about short texts, and gives the same ones about long texts.

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
    """Forget every answer, so that a measurement begins as a new process does.

    >>> forget_all()
    """
    for clear in _CLEARS:
        clear()
