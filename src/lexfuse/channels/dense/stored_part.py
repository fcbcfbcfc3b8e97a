"""Dense vectors of documents on disk: one row for each passage, with its place in the document's text.

A row is stored as 32-bit floats, as 16-bit floats (rounded to nearest) or as bytes: row = scale * codes, codes from -127 to
127, one 32-bit scale a row. What is stored is the vector from then on: scores are defined by it (`exact_scores`), not by what
it was rounded from. Their lengths are stored with the rows (Euclidean norms, rounded up), by which a search knows how far its
first, quick scores can be off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.channels.dense.clusters import Clusters
from lexfuse.data.arrays import F32, I32, I64, Bools, offsets_of, read_only
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.array_file import checked_offsets, map_array, save_array
from lexfuse.storage.stored_channel import NO_OPTIONS, Option

CLUSTERED_FROM = 10_000  # vectors of a part: fewer are scanned sooner than clusters are chosen
LONGEST = 2.0**60  # norm of a vector: products of two such are far from the end of 32-bit floats
STEPS = 127  # codes go from -STEPS to STEPS
_BLOCK = 1 << 22  # numbers that are worked on at once
_TINY = np.float32(1e-45)  # the least float there is: scales of tiny rows are never rounded down, and others not changed


class VectorStorage(Enum):
    """How the numbers of a vector are kept."""

    FP32 = "fp32"
    FP16 = "fp16"
    INT8 = "int8"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of one number on disk."""
        return np.dtype({VectorStorage.FP32: np.float32, VectorStorage.FP16: np.float16, VectorStorage.INT8: np.int8}[self])


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class VectorPart:
    """The vectors of one block of documents: document i has the rows from starts[i] to starts[i + 1].

    >>> part = VectorPart.of(np.eye(3, dtype=np.float32), starts=[0, 2, 3], storage=VectorStorage.INT8)
    >>> len(part), part.dimension, part.block(0, 1).tolist()
    (2, 3, [[1.0, 0.0, 0.0]])
    """

    storage: VectorStorage
    starts: I64
    spans: I32
    matrix: NDArray[Any]
    scales: F32
    norms: F32
    clusters: Clusters | None = None  # for approximate search

    @classmethod
    def of(
        cls,
        vectors: F32,
        starts: Sequence[int] | I64 | None = None,
        spans: Sequence[tuple[int, int]] | I32 | None = None,
        storage: VectorStorage = VectorStorage.FP32,
    ) -> VectorPart:
        """Store vectors; without `starts` every document has one row, without `spans` (start and end) they are all 0.

        >>> VectorPart.of(np.array([[0.1]], dtype=np.float32), storage=VectorStorage.FP16).block(0, 1)
        array([[0.09997559]], dtype=float32)
        >>> VectorPart.of(np.array([[1, np.nan]], dtype=np.float32))
        Traceback (most recent call last):
        ...
        lexfuse.errors.DataError: vector 0 holds nan or infinity; ...
        """
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise ConfigError(f"vectors must be a table of rows and at least one column, got the shape {vectors.shape}")
        rows = len(vectors)
        offsets = np.arange(rows + 1, dtype=np.int64) if starts is None else np.array(starts, dtype=np.int64)
        places = np.zeros((rows, 2), dtype=np.int32) if spans is None else np.array(spans, dtype=np.int32).reshape(-1, 2)
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != rows or (np.diff(offsets) < 0).any():
            raise ConfigError(f"starts must ascend from 0 to the number of vectors, {rows:,}")
        if len(places) != rows:
            raise ConfigError(f"{rows:,} vectors need as many spans, got {len(places):,}")
        matrix = np.empty(vectors.shape, dtype=storage.dtype)
        scales = np.empty(rows if storage is VectorStorage.INT8 else 0, dtype=np.float32)
        norms = np.empty(rows, dtype=np.float32)
        for first, last in blocks(rows, vectors.shape[1]):
            stored, factors, lengths = _stored(np.asarray(vectors[first:last], dtype=np.float32), first, storage)
            matrix[first:last], norms[first:last] = stored, lengths
            scales[first:last] = factors if storage is VectorStorage.INT8 else scales[first:last]
        return cls(storage, read_only(offsets), read_only(places), read_only(matrix), read_only(scales), read_only(norms))

    def __len__(self) -> int:
        """How many documents."""
        return len(self.starts) - 1

    @property
    def rows(self) -> int:
        """How many vectors."""
        return len(self.matrix)

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self.matrix.shape[1])

    def block(self, first: int, last: int) -> F32:
        """Rows from one to before another, as 32-bit floats.

        >>> VectorPart.of(np.eye(3, dtype=np.float32)).block(1, 2).tolist()
        [[0.0, 1.0, 0.0]]
        """
        return _floats(self.matrix[first:last], self.scales[first:last])

    def taken(self, rows: I32 | I64) -> F32:
        """Some rows, as 32-bit floats.

        >>> VectorPart.of(np.eye(3, dtype=np.float32)).taken(np.array([2])).tolist()
        [[0.0, 0.0, 1.0]]
        """
        return _floats(self.matrix[rows], self.scales[rows] if len(self.scales) else self.scales)

    @property
    def inverted(self) -> None:
        """None: vectors have no posting lists."""
        return None

    @property
    def posting_rows(self) -> None:
        """None: vectors have no posting lists."""
        return None

    def save(self, folder: Path, options: Mapping[str, Option] = NO_OPTIONS) -> Iterator[Path]:
        """Write the arrays into a folder and yield each file; ``approximate`` clusters the rows of a large part."""
        yield save_array(folder / "shape.npy", np.array([len(self), self.rows, self.dimension], dtype=np.int64))
        yield save_array(folder / "starts.npy", self.starts)
        yield save_array(folder / "spans.npy", self.spans.reshape(-1))
        yield save_array(folder / "norms.npy", self.norms)
        yield save_array(folder / "scales.npy", self.scales)
        yield save_array(folder / f"{self.storage.value}.npy", self.matrix.reshape(-1))
        if options.get("approximate") and self.rows >= CLUSTERED_FROM:
            yield from Clusters.of(self).save(folder)

    @classmethod
    def load(cls, folder: Path, files: Collection[str] = ()) -> VectorPart:
        """Map saved vectors into memory; nothing is read of them until they are used."""
        storage = next((each for each in VectorStorage if (folder / f"{each.value}.npy").exists()), VectorStorage.FP32)
        shape: list[int] = map_array(folder / "shape.npy", np.int64).tolist()
        starts, spans = map_array(folder / "starts.npy", np.int64), map_array(folder / "spans.npy", np.int32)
        norms, scales = map_array(folder / "norms.npy", np.float32), map_array(folder / "scales.npy", np.float32)
        flat = map_array(folder / f"{storage.value}.npy", storage.dtype)
        lengths = [len(starts), len(spans), len(norms), len(scales), len(flat)]
        if len(shape) != 3 or min(shape) < 0 or shape[2] < 1 or lengths != _lengths(shape, storage):
            raise DataError("the files do not belong together; restore them, or rebuild the index", path=folder)
        checked_offsets(starts, shape[1], folder / "starts.npy")
        if not (norms >= 0).all() or not (norms <= 2 * LONGEST).all() or not np.isfinite(scales).all():
            raise DataError("lengths or scales of vectors cannot be; restore them, or rebuild the index", path=folder)
        part = cls(storage, starts, spans.reshape(-1, 2), flat.reshape(shape[1:]), scales, norms)
        clustered = any(name.startswith("clusters.") for name in files)
        return replace(part, clusters=Clusters.load(folder, part)) if clustered else part

    @classmethod
    def merged(cls, parts: Sequence[VectorPart], kept: Sequence[Bools]) -> VectorPart:
        """The documents of several parts that are kept, in order; their vectors stay bit for bit what they are.

        >>> part = VectorPart.of(np.eye(2, dtype=np.float32))
        >>> VectorPart.merged([part, part], [np.array([True, False])] * 2).matrix.tolist()
        [[1.0, 0.0], [1.0, 0.0]]
        """
        same_kind(parts)
        counts = [np.diff(part.starts) for part in parts]
        chosen = [np.repeat(keep, count) for keep, count in zip(kept, counts, strict=True)]
        picked = list(zip(parts, chosen, strict=True))
        return cls(
            parts[0].storage,
            read_only(offsets_of(np.concatenate([count[keep] for count, keep in zip(counts, kept, strict=True)]))),
            read_only(np.concatenate([part.spans[rows] for part, rows in picked])),
            read_only(np.concatenate([part.matrix[rows] for part, rows in picked])),
            read_only(np.concatenate([part.scales[rows] if len(part.scales) else part.scales for part, rows in picked])),
            read_only(np.concatenate([part.norms[rows] for part, rows in picked])),
        )


def in_floats(part: VectorPart) -> VectorPart:
    """The same rows as 32-bit floats: what `VectorPart.block` gives, converted once.

    >>> in_floats(VectorPart.of(np.full((1, 1), 0.1, np.float32), storage=VectorStorage.FP16)).matrix
    array([[0.09997559]], dtype=float32)
    """
    none = np.empty(0, dtype=np.float32)
    return replace(part, storage=VectorStorage.FP32, matrix=read_only(part.block(0, part.rows)), scales=read_only(none))


def same_kind(parts: Sequence[VectorPart]) -> None:
    """`ConfigError` unless all parts have vectors of one dimension in one storage.

    >>> same_kind([VectorPart.of(np.eye(size, dtype=np.float32)) for size in (2, 3)])
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: parts of one channel must be alike; got vectors of 2 x fp32, 3 x fp32; ...
    """
    kinds = sorted({(part.dimension, part.storage.value) for part in parts})
    if len(kinds) > 1:
        shown = ", ".join(f"{dimension:,} x {storage}" for dimension, storage in kinds)
        raise ConfigError(f"parts of one channel must be alike; got vectors of {shown}; rebuild the channel with one model")


def blocks(rows: int, dimension: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows to process at once, so that temporary arrays stay small.

    >>> list(blocks(10, 1 << 20))
    [(0, 4), (4, 8), (8, 10)]
    """
    size = max(1, _BLOCK // dimension)
    return ((first, min(first + size, rows)) for first in range(0, rows, size))


def quantised(rows: F32) -> tuple[NDArray[np.int8], F32]:
    """Codes and scales of rows: no number of scale * codes is farther from the row's than half a scale (and a rounding).

    >>> [array.tolist() for array in quantised(np.array([[12.7, -6.4, 0]], dtype=np.float32))]
    [[[127, -64, 0]], [0.1...]]
    """
    highest = np.abs(rows).max(axis=1, initial=0)
    scales = np.where(highest > 0, highest / np.float32(STEPS) + _TINY, np.float32(0))
    steps = rows / np.where(scales > 0, scales, np.float32(1))[:, None]
    return np.rint(steps, out=steps).astype(np.int8), scales


def _stored(rows: F32, first: int, storage: VectorStorage) -> tuple[NDArray[Any], F32, F32]:
    """Rows as they are stored, their scales, and upper bounds of their norms."""
    wrong = ~np.isfinite(rows).all(axis=1)
    if wrong.any():
        at = first + int(wrong.argmax())
        raise DataError(f"vector {at:,} holds nan or infinity; look at the text it was made from, and at the model")
    if storage is VectorStorage.INT8:
        codes, scales = quantised(rows)
        return codes, scales, _norms(_floats(codes, scales), first)
    if storage is VectorStorage.FP16 and len(rows) and float(np.abs(rows).max()) > float(np.finfo(np.float16).max):
        at = first + int(np.abs(rows).max(axis=1).argmax())
        raise DataError(f"vector {at:,} holds numbers above 65,504, more than 16-bit floats can be; store it as fp32")
    stored = rows.astype(storage.dtype)
    return stored, np.empty(0, dtype=np.float32), _norms(stored.astype(np.float32), first)


def _norms(rows: F32, first: int) -> F32:
    wide = rows.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    if (norms > LONGEST).any():
        at = int((norms > LONGEST).argmax())
        raise DataError(f"vector {first + at:,} has the length {norms[at]:.3g}; at most {LONGEST:.3g} can be searched: scale it")
    # A row of bytes is scale * codes; as 32-bit floats it is rounded, hence two steps up.
    bounds: F32 = np.nextafter(norms.astype(np.float32) * np.float32(1 + 2.0**-22), np.float32(np.inf))
    return bounds


def _floats(stored: NDArray[Any], scales: F32) -> F32:
    rows: F32 = stored.astype(np.float32, copy=False)
    if stored.dtype == np.int8:
        rows *= scales[:, None]
    return rows


def _lengths(shape: list[int], storage: VectorStorage) -> list[int]:
    """How long the arrays must be: starts, spans, norms, scales, numbers."""
    documents, rows, dimension = shape
    return [documents + 1, 2 * rows, rows, rows if storage is VectorStorage.INT8 else 0, rows * dimension]
