"""When numba kernels replace their numpy twins: only after enough work to pay for loading them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of an array, the only kind that kernels are compiled for."""
    view: NDArray[Any] = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def read_only_views(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """`read_only_view` of several arrays."""
    return tuple(map(read_only_view, arrays))


PATIENCE = 60_000_000  # numpy steps before numba is loaded: about half a second


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
