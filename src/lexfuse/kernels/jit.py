"""Numba's ``njit`` for loops that are compiled once and cached on disk, if there is a writable disk.

Numba refuses to compile if it finds no folder for its cache, as on a read-only file system. Then the loops are compiled in
memory, in every process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import numba

log = logging.getLogger(__name__)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Like ``numba.njit``, with its cache if possible."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # neither the source folder nor the user's cache folder is writable
            _tell()
            return numba.njit(**{**options, "cache": False})(function)

    return compiled


@cache
def _tell() -> None:
    """Warn once per process."""
    log.warning(
        "compiled loops cannot be cached: no cache folder is writable; they are compiled again in every process, which takes "
        "some seconds; set NUMBA_CACHE_DIR to a writable folder"
    )
