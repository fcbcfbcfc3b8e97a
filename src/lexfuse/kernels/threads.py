"""Work on all cores: ranges that threads share, and matrix products on one core each.

OpenBLAS, part of numpy's wheels, splits every product over all cores and waits for the slowest. With blocks that fit the cache it
waits thousands of times per search, and on a busy machine each wait is long: searches were three to four times slower. One
product per core needs no waiting. With another BLAS nothing changes.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexfuse.deadline import check

_NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads64_")


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_on_cores(work: Callable[[int, int], None], size: int, chunk: int) -> None:
    """Call ``work(first, last)`` for ranges of at most ``chunk`` up to ``size`` on all cores; errors propagate.

    ``work`` must release the interpreter's lock. No range starts after the deadline of the call.

    >>> seen = []
    >>> run_on_cores(lambda first, last: seen.append((first, last)), 5, 2)
    >>> sorted(seen)
    [(0, 2), (2, 4), (4, 5)]
    """
    if 0 < size <= chunk:
        check()
        work(0, size)
        return
    ranges = iter([(first, min(first + chunk, size)) for first in range(0, size, chunk)])
    helpers = min(cores(), -(-size // chunk)) - 1
    failed: list[BaseException] = []

    def loop() -> None:
        try:
            for first, last in ranges:  # one iterator for all threads: a free thread takes the next range
                check()
                work(first, last)
        except BaseException as error:
            failed.append(error)

    begun = [_helpers().submit(copy_context().run, loop) for _ in range(helpers)]
    loop()
    for helper in begun:
        if not helper.cancel():  # one that no core was free for is not waited for
            helper.result()
    if failed:
        raise failed[0]


@cache
def _helpers() -> ThreadPoolExecutor:
    """Threads for all calls: on a busy machine a new one would start after the work is done."""
    return ThreadPoolExecutor(2 * cores(), thread_name_prefix="kernel")


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
