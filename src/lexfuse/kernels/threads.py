"""Process ranges on all cores; the called function must release the interpreter's lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import copy_context

from lexfuse.deadline import check


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_on_cores(work: Callable[[int, int], None], size: int, chunk: int) -> None:
    """Call ``work(first, last)`` for ranges of at most ``chunk`` up to ``size`` on all cores; errors propagate.

    No range starts after the deadline of the call.

    >>> seen = []
    >>> run_on_cores(lambda first, last: seen.append((first, last)), 5, 2)
    >>> sorted(seen)
    [(0, 2), (2, 4), (4, 5)]
    """
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

    threads = [threading.Thread(target=copy_context().run, args=(loop,)) for _ in range(helpers)]
    for thread in threads:
        thread.start()
    loop()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
