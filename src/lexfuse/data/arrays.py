"""Names for the array types that LexFuse tables are made of."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
Days = NDArray[np.datetime64]
Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, write-protected: tables are values.

    >>> read_only(np.arange(3)).flags.writeable
    False
    """
    array.flags.writeable = False
    return array


def offsets_of(counts: NDArray[Any]) -> I64:
    """Row starts (and the end) of a CSR table from the length of each row.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
