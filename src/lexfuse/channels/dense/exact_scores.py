"""The score of a query and a passage: their dot product, with the same bits on every path.

BLAS gives other last bits for other shapes, so its results choose candidates only. Every score that is shown is computed
here, from the query (32-bit floats) and the row as it is stored: products are exact in 64-bit floats; the i-th is added to
sum i modulo 32, in order; the 32 sums are added by halves (the second 16 to the first, then 8, 4, 2, 1); for rows of bytes
the result is multiplied by the row's scale. Pooled over passages, the result is rounded to 32 bits last.

As products are exact it does not matter whether a machine multiplies and adds in one instruction, and equal rows have equal
scores. There are two ways with the same bits, numpy for a few pairs and a compiled loop for many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.data.arrays import F32, F64, I64
from lexfuse.kernels.compilation import compiled_is_due, read_only_views
from lexfuse.kernels.threads import run_on_cores

LANES = 32  # sums
_AT_ONCE = 1 << 18  # products
_SHARED_FROM = 1 << 22  # products in one thread: fewer take less time than starting another


def exact_scores(part: VectorPart, queries: F32, query: I64, row: I64) -> F64:
    """The dot product of each pair of a query and a row of a part.

    >>> part = VectorPart.of(np.array([[1, 2], [3, 4]], dtype=np.float32))
    >>> exact_scores(part, np.array([[1, 10]], dtype=np.float32), np.array([0, 0]), np.array([0, 1])).tolist()
    [21.0, 43.0]
    """
    if compiled_is_due(2 * len(query) * part.dimension):
        return _compiled(part, queries, query, row)
    scores = np.empty(len(query), dtype=np.float64)
    size = max(1, _AT_ONCE // part.dimension)
    for first in range(0, len(query), size):
        pairs = slice(first, first + size)
        scores[pairs] = _dot_products(queries[query[pairs]], part.matrix[row[pairs]])
    return scores * part.scales[row] if part.storage is VectorStorage.INT8 else scores


def _dot_products(queries: F32, rows: NDArray[Any]) -> F64:
    """Dot products of pairs of rows of two tables."""
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


def _compiled(part: VectorPart, queries: F32, query: I64, row: I64) -> F64:
    from lexfuse.kernels.dot_product_numba import add_dots, take_halves

    scores = np.empty(len(query), dtype=np.float64)

    def work(first: int, last: int) -> None:
        matrix, at = part.matrix, row[first:last]
        if part.storage is VectorStorage.FP16:  # which compiled loops do not know
            matrix, at = np.empty((last - first, part.dimension), dtype=np.float32), np.arange(last - first)
            take_halves(*read_only_views(part.matrix.view(np.uint16), row[first:last]), matrix)
        scales = part.scales[row[first:last]] if part.storage is VectorStorage.INT8 else part.scales
        add_dots(*read_only_views(matrix, scales, queries, query[first:last], at), scores[first:last])

    run_on_cores(work, len(query), max(1, _SHARED_FROM // part.dimension))
    return scores


def error_of(norms: F64, highest: float, dimension: int) -> F64:
    """The maximum error of a score in 32-bit floats: additions, products, conversions and the last rounding.

    >>> error_of(np.ones(1), 1.0, 384)
    array([2.33...e-05])
    """
    return norms * (highest * (dimension + 8) * 2.0**-24) + dimension * 2.0**-126
