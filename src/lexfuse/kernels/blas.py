"""Matrix products on one core each, so that blocks can be distributed over the cores.

OpenBLAS, part of numpy's wheels, splits every product over all cores and waits for the slowest. With blocks that fit the cache it
waits thousands of times per search, and on a busy machine each wait is long: searches were three to four times slower. One
product per core needs no waiting. With another BLAS nothing changes.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

_NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads64_")


class _Threads(NamedTuple):
    """OpenBLAS functions that set and get the number of threads."""

    set: Callable[[int], None]
    get: Callable[[], int]


class _ThreadState:
    """The number of searches that need one thread now, and the number of threads before."""

    lock = threading.Lock()
    inside = 0
    before = 1


@contextmanager
def one_core_each() -> Iterator[bool]:
    """Within this context, products run on the calling core; yields whether that is possible."""
    threads = _openblas()
    if threads is None:
        yield False
        return
    with _ThreadState.lock:
        if not _ThreadState.inside:
            _ThreadState.before = threads.get()
            threads.set(1)
        _ThreadState.inside += 1
    try:
        yield True
    finally:
        with _ThreadState.lock:
            _ThreadState.inside -= 1
            if not _ThreadState.inside:
                threads.set(_ThreadState.before)


@cache
def _openblas() -> _Threads | None:
    """The OpenBLAS inside numpy's wheel, if there is one; it is already loaded, so this only gets its handle."""
    package = Path(np.__file__).parent
    for path in sorted([*package.parent.glob("numpy.libs/*openblas*"), *package.glob(".dylibs/*openblas*")]):
        library = ctypes.CDLL(str(path))
        for name in _NAMES:
            setter, getter = (getattr(library, name.format(verb), None) for verb in ("set", "get"))
            if setter is not None and getter is not None:
                setter.argtypes, setter.restype = [ctypes.c_int], None
                getter.argtypes, getter.restype = [], ctypes.c_int
                return _Threads(setter, getter)
    return None
