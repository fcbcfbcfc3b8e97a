"""Token vectors in few bits: the nearest of some centroids, and what is left of it in 1 to 8 bits a dimension.

This is the residual compression of ColBERTv2, which PLAID searches, with a better code for the residuals. A vector v is stored
as the number of its centroid c, the bits of its residual and one scale: v ~ scale * (c + sum of value * axis). Centroids come
from k-means on a sample. Axes are the principal axes of the residuals; the more residuals vary along one, the more bits it
gets (reverse water-filling), and where they hardly vary an axis gets none; together they get `bits` for each dimension.
`lexfuse.kernels.trellis` says how bits become values. The scale keeps the length of the vector.

A product with a query q is then scale * (q.c + sum of value * q.axis): nothing is added up to a vector first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexfuse.data.arrays import F32, F64, I32, I64, read_only
from lexfuse.errors import ConfigError, DataError
from lexfuse.kernels.maxsim import nearest, products
from lexfuse.kernels.trellis import MOST, SAMPLE, STATES, U8, allotted, fitted, packed, paths, places, states_of
from lexfuse.storage.array_file import map_array, save_array

BITS = (1, 2, 3, 4, 5, 6, 7, 8)
ROUNDS = 8  # of k-means
PER_CENTROID = 32  # vectors of the sample that are used for each centroid
LEAST_VARIANCE = 1e-14  # where the centroids of a sample are all there is to it
MOST_CENTROIDS = 1 << 16
_BLOCK = 1 << 15  # vectors encoded at once


class EncodedTokens(NamedTuple):
    """Vectors as they are stored."""

    codes: I32
    scales: F32
    residuals: U8  # vectors x bytes


def centroid_count(tokens: int) -> int:
    """The number of centroids for a number of token vectors: the power of two nearest to 4 times its square root.

    >>> centroid_count(1_000_000), centroid_count(3)
    (4096, 4)
    """
    return min(MOST_CENTROIDS, 1 << round(math.log2(max(1.0, min(4 * math.sqrt(tokens), tokens)))))


def sample_size(tokens: int) -> int:
    """The number of token vectors that training samples from a number of them.

    >>> sample_size(1_000_000), sample_size(100)
    (131072, 100)
    """
    return min(tokens, PER_CENTROID * centroid_count(tokens))


@dataclass(frozen=True, eq=False)
class TokenCodec:
    """Centroids, axes and values; all parts of a channel share them.

    >>> vectors = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32)
    >>> codec = TokenCodec.trained(vectors, bits=8)
    >>> bool(np.abs(codec.decoded(codec.encoded(vectors)) - vectors).mean() < 0.02)
    True
    """

    centroids: F32  # centroids x dimension
    axes: F32  # axes x dimension, as long as their values are to be multiplied by
    owned: U8  # bits of every axis
    values: F32  # of every state of the trellis

    @classmethod
    def trained(cls, sample: F32, bits: int, *, tokens: int | None = None, seed: int = 0) -> TokenCodec:
        """A codec from a sample of the vectors; `tokens` is how many vectors there are to be (the sample's, by default).

        >>> TokenCodec.trained(np.eye(4, dtype=np.float32), bits=9)
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: residuals have 1 to 8 bits a dimension, got 9
        """
        if bits not in BITS:
            raise ConfigError(f"residuals have {BITS[0]} to {BITS[-1]} bits a dimension, got {bits}")
        checked(sample)
        if not len(sample):
            raise ConfigError("a codec needs a sample of at least one vector, got none")
        generator = np.random.default_rng(seed)
        count = min(len(sample), centroid_count(len(sample) if tokens is None else tokens))
        used = min(len(sample), PER_CENTROID * count)
        chosen = sample[np.sort(generator.permutation(len(sample))[:used])]
        centroids = _means(chosen, count, generator)
        left = chosen - centroids[nearest(chosen, centroids)]
        variances, directions = _principal(left)
        owned = allotted(variances, bits * len(variances))
        # Neighbours share bits, so that axes with many and with few are better mixed.
        kept = generator.permutation(np.flatnonzero(owned))
        owned, directions = owned[kept], directions[kept].astype(np.float32)
        some = left[np.sort(generator.permutation(len(left))[:SAMPLE])]
        gains, values = fitted(products(some, directions), owned, np.sqrt(variances[kept]), generator)
        return cls(read_only(centroids), read_only(directions * gains[:, None]), read_only(owned), read_only(values))

    @property
    def bits(self) -> int:
        """Bits a dimension."""
        return int(self.owned.sum(dtype=np.int64)) // self.dimension

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return int(self.centroids.shape[1])

    @property
    def packed(self) -> int:
        """Bytes of a vector's residual: its bits, and 8 to start with."""
        return (int(self.owned.sum(dtype=np.int64)) + 15) // 8

    @property
    def bytes(self) -> int:
        """Bytes of the arrays."""
        return sum(int(getattr(self, name).nbytes) for name in _ARRAYS)

    @cached_property
    def places(self) -> I64:
        """Where the state of every axis is in the bytes of a residual."""
        return read_only(places(self.owned))

    def residual_query(self, query: F32) -> F32:
        """The products of a query's vectors with the axes."""
        return products(query, self.axes)

    def residual_values(self, residuals: U8) -> F32:
        """The value of every axis."""
        return self.values[states_of(residuals, self.places)]

    def encoded(self, vectors: F32) -> EncodedTokens:
        """Vectors as they are stored."""
        checked(vectors, self.dimension)
        codes = np.empty(len(vectors), dtype=np.int32)
        scales = np.empty(len(vectors), dtype=np.float32)
        residuals = np.empty((len(vectors), self.packed), dtype=np.uint8)
        gains = np.sqrt(np.square(self.axes, dtype=np.float64).sum(axis=1))
        directions = (self.axes / gains[:, None]).astype(np.float32)
        for first in range(0, len(vectors), _BLOCK):
            some = np.asarray(vectors[first : first + _BLOCK], dtype=np.float32)
            at = slice(first, first + len(some))
            codes[at] = nearest(some, self.centroids)
            along = products(some - self.centroids[codes[at]], directions)
            residuals[at] = packed(paths(along, self.owned, gains.astype(np.float32), self.values), self.owned)
            scales[at] = _scales(some, self._unscaled(codes[at], residuals[at]))
        return EncodedTokens(codes, scales, residuals)

    def decoded(self, encoded: EncodedTokens) -> F32:
        """The vectors that are stored."""
        return self._unscaled(encoded.codes, encoded.residuals) * encoded.scales[:, None]

    def _unscaled(self, codes: I32, residuals: U8) -> F32:
        return self.centroids[codes] + products(self.residual_values(residuals), np.ascontiguousarray(self.axes.T))

    def same(self, other: TokenCodec) -> bool:
        """Whether two codecs store vectors in the same way.

        >>> codec = TokenCodec.trained(np.eye(4, dtype=np.float32), bits=2)
        >>> codec.same(codec)
        True
        """
        return self is other or all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS)

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the arrays into a folder and yield each file."""
        for name in _ARRAYS:
            yield save_array(folder / f"{name}.npy", getattr(self, name).reshape(-1))

    @classmethod
    def load(cls, folder: Path) -> TokenCodec:
        """Map a saved codec into memory."""
        if any((folder / name).exists() for name in _OLD):
            reason = "token vectors are stored in the layout of an older version"
            raise DataError(f"{reason}; drop the channel and make it again", path=folder)
        centroids, axes, owned, values = (map_array(folder / f"{name}.npy", dtype) for name, dtype in _ARRAYS.items())
        fits = len(owned) and len(axes) and len(axes) % len(owned) == 0 and len(values) == STATES
        dimension = len(axes) // max(1, len(owned))
        fits = fits and len(centroids) and len(centroids) % dimension == 0
        if not fits or not 1 <= owned.min() <= owned.max() <= MOST or int(owned.sum(dtype=np.int64)) % dimension:
            raise DataError("the files of the codec do not belong together; restore them, or rebuild the index", path=folder)
        return cls(centroids.reshape(-1, dimension), axes.reshape(-1, dimension), owned, values)


_ARRAYS = {"centroids": np.float32, "axes": np.float32, "owned": np.uint8, "values": np.float32}
_OLD = ("spreads.npy", "levels.npy")  # fixed levels for every dimension


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


def _principal(left: F32) -> tuple[F64, F64]:
    """The principal axes of residuals, one a row, and the variance along each.

    What a small sample does not show is assumed equal for all axes: the variances are shrunk towards their mean.
    """
    dimension = left.shape[1]
    moments = left.T.astype(np.float64) @ left.astype(np.float64) / len(left)
    variances, axes = np.linalg.eigh(moments)
    share = dimension / (dimension + 10 * len(left))
    shrunk = (1 - share) * np.maximum(variances, 0) + share * np.trace(moments) / dimension
    return np.maximum(shrunk, LEAST_VARIANCE), axes.T


def _scales(vectors: F32, stored: F32) -> F32:
    """What makes the stored vectors as long as the true ones; 1 where nothing can."""
    lengths = np.sqrt(np.square(stored, dtype=np.float64).sum(axis=1))
    true = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
    scales: F64 = np.divide(true, lengths, out=np.ones_like(true), where=lengths > 0)
    return scales.astype(np.float32)
