"""Token vectors in few bits: the nearest of some centroids, and what is left of it in 1 to 8 bits a dimension.

This is the residual compression of ColBERTv2, which PLAID searches, along better axes. A vector v is stored as the number of its
centroid c, the levels of its residual and one scale: v ~ scale * (c + sum of (level - middle) * axis). Centroids come from
k-means on a sample. Axes are the principal axes of the residuals, each as long as the step of its levels; the more residuals vary
along one, the more bits it gets (reverse water-filling): 8, 4, 2, 1 or none, together at most `bits` for each dimension.
`lexfuse.kernels.levels` says how levels become bytes. The scale keeps the length of the vector.

A product with a query q is then scale * (q.c + sum of (level - middle) * q.axis): no vector is decoded first. The products q.axis
of a query vector are rounded to whole numbers of 16 bits times a step, so that the sum is one of whole numbers, whose bits depend
on no order of additions.
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

from lexfuse.data.arrays import F32, F64, I32, read_only
from lexfuse.errors import ConfigError, DataError
from lexfuse.kernels.levels import U8, WIDTHS, LevelLayout, allotted, centred, centres, fitted_steps, levels_of
from lexfuse.kernels.maxsim import nearest, products
from lexfuse.storage.array_file import map_array, save_array

BITS = (1, 2, 3, 4, 5, 6, 7, 8)
ROUNDS = 8  # of k-means
PER_CENTROID = 32  # vectors of the sample that are used for each centroid
SAMPLE = 4096  # residuals that the steps of levels are fitted to
HIGHEST = 127 * 256  # whole number of a query: 256 high + low, both of 8 bits
LEAST_VARIANCE = 1e-14  # where the centroids of a sample are all there is to it
MOST_CENTROIDS = 1 << 16
_BLOCK = 1 << 15  # vectors encoded at once


class EncodedTokens(NamedTuple):
    """Vectors as they are stored."""

    codes: I32
    scales: F32
    residuals: U8  # vectors x bytes


class RoundedQuery(NamedTuple):
    """The products of query vectors with axes: whole numbers times the step of the vector."""

    numbers: NDArray[np.int16]  # query vectors x axes
    steps: F32
    middles: F32  # the product of each query vector with the middles of all levels


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
    """Centroids and axes; all parts of a channel share them.

    >>> vectors = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32)
    >>> codec = TokenCodec.trained(vectors, bits=8)
    >>> bool(np.abs(codec.decoded(codec.encoded(vectors)) - vectors).mean() < 0.02)
    True
    """

    centroids: F32  # centroids x dimension
    axes: F32  # axes x dimension, each as long as the step of its levels
    widths: U8  # bits of every axis, which do not ascend

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
        widths = allotted(variances, bits * len(variances))
        kept = np.argsort(-widths.astype(np.int64), kind="stable")[: np.count_nonzero(widths)]
        axes: F32 = directions[kept].astype(np.float32)
        some = left[np.sort(generator.permutation(len(left))[:SAMPLE])]
        steps = fitted_steps(products(some, axes), widths[kept], np.sqrt(variances[kept]))
        return cls(read_only(centroids), read_only(axes * steps[:, None]), read_only(widths[kept]))

    @property
    def bits(self) -> float:
        """Bits a dimension."""
        return int(self.widths.sum(dtype=np.int64)) / self.dimension

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return int(self.centroids.shape[1])

    @property
    def bytes(self) -> int:
        """Bytes of the arrays."""
        return sum(int(getattr(self, name).nbytes) for name in _ARRAYS)

    @cached_property
    def layout(self) -> LevelLayout:
        """Where the levels are in the bytes of a residual."""
        return LevelLayout.of(self.widths)

    def rounded(self, query: F32) -> RoundedQuery:
        """The products of a query's vectors with the axes, in whole numbers.

        >>> codec = TokenCodec.trained(np.eye(4, dtype=np.float32), bits=8)
        >>> rounded = codec.rounded(np.eye(4, dtype=np.float32)[:2])
        >>> bool(np.abs(rounded.numbers * rounded.steps[:, None] - codec.axes.T[:2]).max() <= rounded.steps.max() / 2)
        True
        """
        along = products(query, self.axes)
        steps = np.abs(along).max(axis=1, initial=0) / np.float32(HIGHEST)
        numbers = np.rint(np.divide(along, steps[:, None], out=np.zeros_like(along), where=steps[:, None] > 0))
        numbers = np.clip(numbers, -HIGHEST, HIGHEST).astype(np.int16)
        middles = (numbers * centres(self.widths).astype(np.float64)).sum(axis=1)
        return RoundedQuery(numbers, steps, (steps * middles).astype(np.float32))

    def encoded(self, vectors: F32) -> EncodedTokens:
        """Vectors as they are stored."""
        checked(vectors, self.dimension)
        codes = np.empty(len(vectors), dtype=np.int32)
        scales = np.empty(len(vectors), dtype=np.float32)
        residuals = np.empty((len(vectors), self.layout.bytes), dtype=np.uint8)
        squares = np.square(self.axes, dtype=np.float64).sum(axis=1, keepdims=True)
        inverse = (self.axes / squares).astype(np.float32)
        for first in range(0, len(vectors), _BLOCK):
            some = np.asarray(vectors[first : first + _BLOCK], dtype=np.float32)
            at = slice(first, first + len(some))
            codes[at] = nearest(some, self.centroids)
            levels = levels_of(products(some - self.centroids[codes[at]], inverse), self.widths)
            residuals[at] = self.layout.packed(levels)
            scales[at] = _scales(some, self._unscaled(codes[at], levels))
        return EncodedTokens(codes, scales, residuals)

    def decoded(self, encoded: EncodedTokens) -> F32:
        """The vectors that are stored."""
        return self._unscaled(encoded.codes, self.layout.unpacked(encoded.residuals)) * encoded.scales[:, None]

    def _unscaled(self, codes: I32, levels: U8) -> F32:
        return self.centroids[codes] + products(centred(levels, self.widths), np.ascontiguousarray(self.axes.T))

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
        centroids, axes, widths = (map_array(folder / f"{name}.npy", dtype) for name, dtype in _ARRAYS.items())
        fits = len(widths) and len(axes) and len(axes) % len(widths) == 0
        dimension = len(axes) // max(1, len(widths))
        fits = fits and len(widths) <= dimension and len(centroids) and len(centroids) % dimension == 0
        if not fits or not np.isin(widths, WIDTHS[1:]).all() or (widths[1:] > widths[:-1]).any():
            raise DataError("the files of the codec do not belong together; restore them, or rebuild the index", path=folder)
        return cls(centroids.reshape(-1, dimension), axes.reshape(-1, dimension), widths)


_ARRAYS = {"centroids": np.float32, "axes": np.float32, "widths": np.uint8}
_OLD = ("spreads.npy", "levels.npy", "owned.npy", "values.npy")  # fixed levels for every dimension; trellis-coded residuals


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
