"""Dot products in numpy with the same bits on every machine, and the rounding error of fast ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64


def error_of(norms: F64, highest: float, dimension: int) -> F64:
    """The maximum error of a score in 32-bit floats: additions, products, conversions and the last rounding.

    >>> error_of(np.ones(1), 1.0, 384)
    array([2.33...e-05])
    """
    return norms * (highest * (dimension + 8) * 2.0**-24) + dimension * 2.0**-126


LANES = 32


def dot_products(queries: F32, rows: NDArray[Any]) -> F64:
    """Dot products of pairs of rows of two tables, as `lexfuse.channels.dense.exact_scores` defines them."""
    pairs, dimension = queries.shape
    sums = np.zeros((pairs, LANES), dtype=np.float64)
    for first in range(0, dimension, LANES):
        products = queries[:, first : first + LANES].astype(np.float64) * rows[:, first : first + LANES].astype(np.float64)
        sums[:, : products.shape[1]] += products
    half = LANES // 2
    while half:
        sums = sums[:, :half] + sums[:, half:]
        half //= 2
    return sums[:, 0]
