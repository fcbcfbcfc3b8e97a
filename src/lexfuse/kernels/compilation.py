"""Compiled loops: how numba compiles them, and when they replace their numpy twins.

Loading numba takes a second, so compiled loops replace numpy only after enough work to pay for it. Only the modules of compiled
loops load numba.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

PATIENCE = 60_000_000  # numpy steps before numba is loaded: about half a second
log = logging.getLogger(__name__)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Like ``numba.njit``, with its cache on disk if there is a writable one; else loops are compiled in every process."""
    import numba

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # neither the source folder nor the user's cache folder is writable
            _warn()
            return numba.njit(**{**options, "cache": False})(function)

    return compiled


@cache
def _warn() -> None:
    """Warn once per process."""
    log.warning(
        "compiled loops cannot be cached: no cache folder is writable; they are compiled again in every process, which takes "
        "some seconds; set NUMBA_CACHE_DIR to a writable folder"
    )


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of an array, the only kind that kernels are compiled for."""
    if type(array) is np.ndarray and array.flags.c_contiguous and not array.flags.writeable:
        return array
    view: NDArray[Any] = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def read_only_views(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """`read_only_view` of several arrays."""
    return tuple(map(read_only_view, arrays))


class _Waiting:
    """Numpy steps so far in this process."""

    steps = 0


def compiled_is_due(steps: int) -> bool:
    """Whether the compiled loops are loaded or this many more steps are worth loading them; otherwise counts the steps."""
    if _Waiting.steps + steps < PATIENCE:
        _Waiting.steps += steps
        return False
    _Waiting.steps = PATIENCE  # always due from now on
    return True
