"""Values computed once per part of the index: versions of an index share most of their parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

Source = TypeVar("Source")
Others = ParamSpec("Others")
Made = TypeVar("Made")


def made_once(make: Callable[Concatenate[Source, Others], Made]) -> Callable[Concatenate[Source, Others], Made]:
    """Cache a result as long as its first argument lives; further arguments must belong to it.

    >>> class Part:
    ...     pass
    >>> numbers = made_once(lambda part: [1, 2])
    >>> part = Part()
    >>> numbers(part) is numbers(part), numbers(part) is numbers(Part())
    (True, False)
    """
    known: WeakKeyDictionary[Source, Made] = WeakKeyDictionary()
    lock = Lock()

    @wraps(make)
    def found(source: Source, /, *args: Others.args, **others: Others.kwargs) -> Made:
        with lock:
            made = known.get(source)
        if made is None:  # computed outside of the lock, so that others need not wait
            made = make(source, *args, **others)
            with lock:
                made = known.setdefault(source, made)
        return made

    return found
