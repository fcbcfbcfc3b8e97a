"""MaxSim, the score of late interaction: the best document token of every query token, summed (eq. 11 of FUSE).

The product of two vectors is defined to the last bit: 32-bit floats, multiplied, rounded, added, rounded, one dimension after the
other; the best products are added in 64-bit floats and rounded to 32 bits once. So a score does not depend on what else is scored
at the same time. Each function has two bit-equal versions: numpy for little work, compiled loops on all cores for much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I32, I64
from lexfuse.kernels.compilation import compiled_is_due, read_only_view
from lexfuse.kernels.threads import run_on_cores

LANES = 16  # as in the compiled loops
_AT_ONCE = 1 << 20  # products in numpy


def maxsim(query: F32, tokens: F32, starts: I64) -> F32:
    """The score of every document, with the tokens from starts[i] to starts[i + 1]; NaN for a document without tokens.

    >>> query = np.array([[1, 0], [0, 1]], dtype=np.float32)
    >>> tokens = np.array([[0.5, 0], [0, 1], [1, 1]], dtype=np.float32)
    >>> maxsim(query, tokens, np.array([0, 2, 3, 3])).tolist()
    [1.5, 2.0, nan]
    """
    if not compiled_is_due(steps(len(tokens), query)):
        return summed(highest(products(tokens, query), starts), starts)
    from lexfuse.kernels.maxsim_numba import maxsim as loop

    scores = np.empty(len(starts) - 1, dtype=np.float32)
    rows, lanes = read_only_view(tokens), read_only_view(in_lanes(query))
    run_on_cores(
        lambda first, last: loop(rows, read_only_view(starts[first : last + 1]), lanes, len(query), scores[first:last]),
        len(scores),
        64,
    )
    return scores


def products(rows: F32, vectors: F32) -> F32:
    """The product of every row with every vector.

    >>> products(np.array([[1, 2], [3, 4]], dtype=np.float32), np.array([[1, 10]], dtype=np.float32)).tolist()
    [[21.0], [43.0]]
    """
    if not compiled_is_due(steps(len(rows), vectors)):
        found = np.empty((len(rows), len(vectors)), dtype=np.float32)
        size = max(1, _AT_ONCE // max(1, len(vectors)))
        columns = np.ascontiguousarray(vectors.T)
        for first in range(0, len(rows), size):
            found[first : first + size] = _plain(rows[first : first + size], columns)
        return found
    return padded_products(rows, vectors)[:, : len(vectors)]


def padded_products(rows: F32, vectors: F32) -> F32:
    """`products` by compiled loops, with columns for whole groups of lanes."""
    from lexfuse.kernels.maxsim_numba import products as loop

    lanes = read_only_view(in_lanes(vectors))
    found = np.empty((len(rows), len(lanes) * LANES), dtype=np.float32)
    run_on_cores(lambda first, last: loop(read_only_view(rows[first:last]), lanes, found[first:last]), len(rows), 1020)
    return found


def nearest(vectors: F32, centroids: F32) -> I32:
    """The nearest centroid of each vector; the first of equals.

    >>> nearest(np.array([[2, 0], [0, 1]], dtype=np.float32), np.array([[0, 0], [0, 2], [3, 0]], dtype=np.float32)).tolist()
    [2, 0]
    """
    halves = (0.5 * np.square(centroids, dtype=np.float64).sum(axis=1)).astype(np.float32)
    found = np.empty(len(vectors), dtype=np.int32)
    if not compiled_is_due(steps(len(vectors), centroids)):
        size = max(1, _AT_ONCE // len(centroids))
        columns = np.ascontiguousarray(centroids.T)
        for first in range(0, len(vectors), size):
            found[first : first + size] = (_plain(vectors[first : first + size], columns) - halves).argmax(axis=1)
        return found
    from lexfuse.kernels.maxsim_numba import nearest as loop

    rows, each = read_only_view(centroids), read_only_view(halves)
    run_on_cores(lambda first, last: loop(read_only_view(vectors[first:last]), rows, each, found[first:last]), len(vectors), 2048)
    return found


def highest(products: F32, starts: I64) -> F32:
    """The highest product of every document with every vector; -inf for a document without tokens.

    >>> highest(np.array([[1], [3], [2]], dtype=np.float32), np.array([0, 2, 2, 3])).tolist()
    [[3.0], [-inf], [2.0]]
    """
    found = np.full((len(starts) - 1, products.shape[1]), -np.inf, dtype=np.float32)
    some = np.flatnonzero(np.diff(starts))
    if len(some):
        found[some] = np.maximum.reduceat(products, starts[some], axis=0)
    return found


def summed(best: F32, starts: I64) -> F32:
    """The sum over the query vectors in order; NaN for a document without tokens.

    >>> summed(np.array([[1, 2], [-np.inf, -np.inf]], dtype=np.float32), np.array([0, 2, 2])).tolist()
    [3.0, nan]
    """
    total = np.zeros(len(best), dtype=np.float64)
    for column in range(best.shape[1]):
        total += best[:, column]
    return np.where(np.diff(starts) > 0, total, np.nan).astype(np.float32)


def in_lanes(vectors: F32) -> F32:
    """Vectors in groups of 16, dimension by dimension; the last group is padded with 0."""
    groups = -(-len(vectors) // LANES)
    padded = np.zeros((groups * LANES, vectors.shape[1]), dtype=np.float32)
    padded[: len(vectors)] = vectors
    return np.ascontiguousarray(padded.reshape(groups, LANES, -1).transpose(0, 2, 1))


def high_and_low(numbers: NDArray[np.int16]) -> NDArray[np.int8]:
    """Whole numbers n of 16 bits as two of 8 bits, n = 256 high + low; all high ones come first.

    >>> high_and_low(np.array([[300, -129]], dtype=np.int16)).tolist()
    [[[1, -1]], [[44, 127]]]
    """
    low = numbers.astype(np.int8)  # the lowest 8 bits, with their sign
    return np.stack([(numbers.astype(np.int32) - low >> 8).astype(np.int8), low])


def in_byte_lanes(numbers: NDArray[np.int8]) -> NDArray[np.int8]:
    """Whole numbers of 8 bits of query vectors in groups of 16, four by four; the last group is padded with 0."""
    groups = -(-len(numbers) // LANES)
    padded = np.zeros((groups * LANES, numbers.shape[1]), dtype=np.int8)
    padded[: len(numbers)] = numbers
    return np.ascontiguousarray(padded.reshape(groups, LANES, -1, 4).transpose(0, 2, 1, 3))


def in_blocks(numbers: NDArray[np.int8]) -> NDArray[np.int8]:
    """Rows of whole numbers of 8 bits, filled up with 0 to whole blocks of 64."""
    return np.pad(numbers, ((0, 0), (0, -numbers.shape[1] % 64)))


def steps(rows: int, vectors: F32) -> int:
    """The approximate numpy steps for the products of rows and vectors."""
    return int(vectors.shape[1]) * (1000 + rows * len(vectors))


def _plain(rows: F32, columns: F32) -> F32:
    """Products with the same order of operations as the compiled loops."""
    sums = np.zeros((len(rows), columns.shape[1]), dtype=np.float32)
    product = np.empty_like(sums)
    for at, column in enumerate(columns):
        np.multiply(rows[:, at, None], column, out=product)
        sums += product
    return sums
