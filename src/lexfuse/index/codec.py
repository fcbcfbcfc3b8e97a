"""Token vectors in few bits: the nearest of some centroids, and what is left of it in 1, 2, 4 or 8 bits a dimension.

This is the residual compression of ColBERTv2, which PLAID searches. A vector v is stored as the number of its centroid c, one
level number for each dimension and one scale: v ~ scale * (c + spread * level). Centroids come from k-means on a sample.
The spread of a dimension is the standard deviation of its residuals; levels are the best for residuals in units of their
spread (Lloyd's algorithm in one dimension), the same for all dimensions. The scale keeps the length of the vector.

A product with a query q is then scale * (q.c + (q * spread).level): nothing is added up to a vector first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I32, frozen
from lexfuse.errors import ConfigError, DataError
from lexfuse.index.mapping import mapped, save_array
from lexfuse.index.maxsim import nearest

U8 = NDArray[np.uint8]
BITS = (1, 2, 4, 8)
ROUNDS = 8  # of k-means
PER_CENTROID = 32  # vectors of the sample that are used for each centroid
LEVEL_ROUNDS = 100
LEVEL_SAMPLE = 1 << 20  # residuals that levels are found from
MOST_CENTROIDS = 1 << 16
_BLOCK = 1 << 15  # vectors encoded at once


class Encoded(NamedTuple):
    """Vectors as they are stored.

    >>> Encoded._fields
    ('codes', 'scales', 'residuals')
    """

    codes: I32
    scales: F32
    residuals: U8  # vectors x bytes


def centroid_count(tokens: int) -> int:
    """How many centroids so many token vectors get: the power of two nearest to 4 times their square root.

    >>> centroid_count(1_000_000), centroid_count(3)
    (4096, 4)
    """
    return min(MOST_CENTROIDS, 1 << round(math.log2(max(1.0, min(4 * math.sqrt(tokens), tokens)))))


def sample_size(tokens: int) -> int:
    """How many of so many token vectors training looks at; more are not used.

    >>> sample_size(1_000_000), sample_size(100)
    (131072, 100)
    """
    return min(tokens, PER_CENTROID * centroid_count(tokens))


@dataclass(frozen=True, eq=False)
class Codec:
    """Centroids, spreads and levels; all parts of a channel share them.

    >>> vectors = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32)
    >>> codec = Codec.trained(vectors, bits=8)
    >>> bool(np.abs(codec.decoded(codec.encoded(vectors)) - vectors).mean() < 0.01)
    True
    """

    centroids: F32  # centroids x dimension
    spreads: F32
    levels: F32  # ascending, 2 ** bits of them

    @classmethod
    def trained(cls, sample: F32, bits: int, *, tokens: int | None = None, seed: int = 0) -> Codec:
        """A codec from a sample of the vectors; `tokens` is how many vectors there are to be (the sample's, by default).

        >>> Codec.trained(np.eye(4, dtype=np.float32), bits=3)
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: residuals have 1, 2, 4 or 8 bits a dimension, got 3
        """
        if bits not in BITS:
            raise ConfigError(f"residuals have 1, 2, 4 or 8 bits a dimension, got {bits}")
        checked(sample)
        if not len(sample):
            raise ConfigError("a codec needs a sample of at least one vector, got none")
        generator = np.random.default_rng(seed)
        count = min(len(sample), centroid_count(len(sample) if tokens is None else tokens))
        used = min(len(sample), PER_CENTROID * count)
        chosen = sample[np.sort(generator.permutation(len(sample))[:used])]
        centroids = _means(chosen, count, generator)
        left = chosen - centroids[nearest(chosen, centroids)]
        spreads = np.sqrt(np.square(left, dtype=np.float64).mean(axis=0))
        spreads = np.where(spreads > 0, spreads, 1.0)  # a dimension without residuals: any will do
        normal = (left / spreads).reshape(-1)
        if len(normal) > LEVEL_SAMPLE:
            normal = normal[generator.integers(0, len(normal), LEVEL_SAMPLE)]
        levels = _levels(np.sort(normal), 1 << bits)
        return cls(frozen(centroids), frozen(spreads.astype(np.float32)), frozen(levels.astype(np.float32)))

    @property
    def bits(self) -> int:
        """Bits a dimension.

        >>> Codec.trained(np.eye(4, dtype=np.float32), bits=4).bits
        4
        """
        return len(self.levels).bit_length() - 1

    @property
    def dimension(self) -> int:
        """Numbers of a vector.

        >>> Codec.trained(np.eye(4, dtype=np.float32), bits=4).dimension
        4
        """
        return int(self.centroids.shape[1])

    @property
    def packed(self) -> int:
        """Bytes of a vector's level numbers.

        >>> Codec.trained(np.eye(9, dtype=np.float32), bits=2).packed
        3
        """
        return -(-self.dimension * self.bits // 8)

    @cached_property
    def unpacked(self) -> F32:
        """The levels that each value of a byte stands for, one row a value.

        >>> Codec.trained(np.eye(9, dtype=np.float32), bits=2).unpacked.shape
        (256, 4)
        """
        shifts = np.arange(0, 8, self.bits)
        numbers = (np.arange(256)[:, None] >> shifts) & (len(self.levels) - 1)
        return frozen(self.levels[numbers])

    def residual_query(self, query: F32) -> F32:
        """A query's vectors in units of the spreads, with zeros for dimensions that only fill the last byte.

        >>> Codec.trained(np.eye(9, dtype=np.float32), bits=2).residual_query(np.ones((1, 9), dtype=np.float32)).shape
        (1, 12)
        """
        scaled = np.zeros((len(query), self.packed * (8 // self.bits)), dtype=np.float32)
        scaled[:, : self.dimension] = query * self.spreads
        return scaled

    def encoded(self, vectors: F32) -> Encoded:
        """Vectors as they are stored.

        >>> Codec.trained(np.eye(4, dtype=np.float32), bits=2).encoded(np.eye(4, dtype=np.float32)).residuals.shape
        (4, 1)
        """
        checked(vectors, self.dimension)
        codes = np.empty(len(vectors), dtype=np.int32)
        scales = np.empty(len(vectors), dtype=np.float32)
        residuals = np.empty((len(vectors), self.packed), dtype=np.uint8)
        cutoffs = ((self.levels[1:].astype(np.float64) + self.levels[:-1]) / 2).astype(np.float32)
        for first in range(0, len(vectors), _BLOCK):
            some = np.asarray(vectors[first : first + _BLOCK], dtype=np.float32)
            at = slice(first, first + len(some))
            codes[at] = nearest(some, self.centroids)
            left = (some - self.centroids[codes[at]]) / self.spreads
            numbers = _numbers(left, cutoffs)
            residuals[at] = self._packed(numbers)
            scales[at] = _scales(some, self.centroids[codes[at]] + self.spreads * self.levels[numbers])
        return Encoded(codes, scales, residuals)

    def decoded(self, encoded: Encoded) -> F32:
        """The vectors that are stored.

        >>> codec = Codec.trained(np.eye(4, dtype=np.float32), bits=2)
        >>> codec.decoded(codec.encoded(np.eye(4, dtype=np.float32))).shape
        (4, 4)
        """
        left = self.unpacked[encoded.residuals].reshape(len(encoded.codes), self.packed * (8 // self.bits))[:, : self.dimension]
        return (self.centroids[encoded.codes] + left * self.spreads) * encoded.scales[:, None]

    def _packed(self, numbers: U8) -> U8:
        """Level numbers side by side in bytes, the first in the lowest bits."""
        each = 8 // self.bits
        padded = np.zeros((len(numbers), self.packed * each), dtype=np.uint8)
        padded[:, : self.dimension] = numbers
        shifted = padded.reshape(len(numbers), self.packed, each) << np.arange(0, 8, self.bits, dtype=np.uint8)
        joined: U8 = np.bitwise_or.reduce(shifted, axis=2)
        return joined

    def same(self, other: Codec) -> bool:
        """Whether two codecs store alike.

        >>> codec = Codec.trained(np.eye(4, dtype=np.float32), bits=2)
        >>> codec.same(codec)
        True
        """
        return self is other or all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS)

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the arrays into a folder and tell each file written.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(list(Codec.trained(np.eye(4, dtype=np.float32), bits=2).save(Path(folder))))
        3
        """
        for name in _ARRAYS:
            yield save_array(folder / f"{name}.npy", getattr(self, name).reshape(-1))

    @classmethod
    def load(cls, folder: Path) -> Codec:
        """Map a saved codec into memory.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = list(Codec.trained(np.eye(4, dtype=np.float32), bits=2).save(Path(folder)))
        ...     Codec.load(Path(folder)).centroids.shape
        (4, 4)
        """
        centroids, spreads, levels = (mapped(folder / f"{name}.npy", np.float32) for name in _ARRAYS)
        fits = len(spreads) and len(centroids) and len(centroids) % len(spreads) == 0
        if not fits or len(levels) not in [1 << bits for bits in BITS] or (np.diff(levels) < 0).any():
            raise DataError("the files of the codec do not belong together; restore them, or rebuild the index", path=folder)
        return cls(centroids.reshape(-1, len(spreads)), spreads, levels)


_ARRAYS = ("centroids", "spreads", "levels")


def checked(vectors: F32, dimension: int | None = None) -> F32:
    """Vectors if they are rows of finite numbers, of the given dimension; `DataError` or `ConfigError` otherwise.

    >>> checked(np.array([[np.nan]], dtype=np.float32))
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: token vector 0 holds nan or infinity; encode the text again, ...
    """
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise ConfigError(f"token vectors must be a table of rows and at least one column, got the shape {vectors.shape}")
    if dimension is not None and vectors.shape[1] != dimension:
        expected = f"token vectors must have {dimension} dimensions, as the index has"
        raise ConfigError(f"{expected}; got {vectors.shape[1]}: use the model that the index was made with")
    finite = np.isfinite(vectors.sum(axis=1, dtype=np.float64))
    if not finite.all():
        at = int(np.argmin(finite))
        raise DataError(f"token vector {at} holds nan or infinity; encode the text again, or check the model")
    return vectors


def _means(vectors: F32, count: int, generator: np.random.Generator) -> F32:
    """K-means: start with some of the vectors, then move each centroid to the mean of those that are nearest to it."""
    centroids = vectors[np.sort(generator.permutation(len(vectors))[:count])].copy()
    for _ in range(ROUNDS):
        codes = nearest(vectors, centroids)
        order = np.argsort(codes, kind="stable")
        used, first = np.unique(codes[order], return_index=True)
        sums = np.add.reduceat(vectors[order].astype(np.float64), first, axis=0)
        centroids[used] = sums / np.diff(first, append=len(order))[:, None]
        idle = np.setdiff1d(np.arange(count), used)
        if len(idle):  # they start again at vectors that are far from what they are counted to
            far = np.argsort(-np.square(vectors - centroids[codes], dtype=np.float64).sum(axis=1), kind="stable")
            centroids[idle] = vectors[far[: len(idle)]]
    return centroids


def _levels(values: F64, count: int) -> F64:
    """Levels with the least mean squared distance from sorted values to the nearest of them: Lloyd's algorithm."""
    sums = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    places = np.round(np.linspace(0, len(values) - 1, 2 * count + 1)[1::2]).astype(np.int64)
    levels: F64 = values[places].astype(np.float64)
    for _ in range(LEVEL_ROUNDS):
        cuts = np.concatenate(([0], np.searchsorted(values, (levels[1:] + levels[:-1]) / 2), [len(values)]))
        sizes = np.diff(cuts)
        means = (sums[cuts[1:]] - sums[cuts[:-1]]) / np.maximum(sizes, 1)
        moved = np.where(sizes > 0, means, levels)
        if np.array_equal(moved, levels):
            break
        levels = moved
    return np.sort(levels)


def _numbers(left: F32, cutoffs: F32) -> U8:
    """How many cutoffs lie below each value."""
    if len(cutoffs) > 3:
        return np.searchsorted(cutoffs, left).astype(np.uint8)
    numbers = np.zeros(left.shape, dtype=np.uint8)
    for cutoff in cutoffs:  # many times faster than a search, as long as they are few
        numbers += left > cutoff
    return numbers


def _scales(vectors: F32, stored: F32) -> F32:
    """What makes the stored vectors as long as the true ones; 1 where nothing can."""
    lengths = np.sqrt(np.square(stored, dtype=np.float64).sum(axis=1))
    true = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
    scales: F64 = np.divide(true, lengths, out=np.ones_like(true), where=lengths > 0)
    return scales.astype(np.float32)
