"""When kernels compiled by numba replace their numpy twins: only after enough work to pay for compilation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of an array, the only kind that is compiled for.

    >>> read_only_view(np.arange(3)).flags.writeable
    False
    """
    view: NDArray[Any] = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


PATIENCE = 60_000_000  # steps in numpy before numba is loaded: about half a second


class _Waiting:
    """Steps made in numpy so far, in the whole process."""

    steps = 0


def compiled_is_due(steps: int) -> bool:
    """Whether so many more steps are worth loading the compiled loops, or they are loaded already; if not, counts them.

    >>> compiled_is_due(PATIENCE)
    True
    """
    if _Waiting.steps + steps < PATIENCE:
        _Waiting.steps += steps
        return False
    _Waiting.steps = PATIENCE  # from now on, always
    return True
