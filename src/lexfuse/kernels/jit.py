"""Numba's ``njit`` for loops that are compiled once and kept on disk, where there is a disk that can be written.

Numba refuses to compile at all where it finds no folder for its cache, as on a read-only file system. Here the loops are
compiled in memory then, anew in every process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import numba

log = logging.getLogger(__name__)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """As ``numba.njit``, with its cache where one can be kept.

    >>> @njit(cache=True)
    ... def double(x):
    ...     return 2 * x
    >>> double(21)  # an example has no file, so nothing can be kept of it
    42
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # no place for a cache: neither beside the source, nor in the user's cache folder
            _tell()
            return numba.njit(**{**options, "cache": False})(function)

    return compiled


@cache
def _tell() -> None:
    """Once in a process."""
    log.warning(
        "compiled loops cannot be kept: no cache folder can be written; they are compiled again in every process, which takes "
        "some seconds; set NUMBA_CACHE_DIR to a folder that can be written"
    )
