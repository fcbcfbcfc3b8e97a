"""Rows in clusters of near ones (an inverted file of vectors), so that a search reads only a few clusters.

The centres are found by k-means (Lloyd) on a sample of the rows, from drawn rows and with a fixed seed; then every row goes to
its nearest centre. There are about twice as many clusters as the root of the number of rows: choosing clusters and scanning
them then cost about the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, read_only
from lexfuse.errors import ConfigError, DataError
from lexfuse.kernels.threads import one_core_each, run_on_cores
from lexfuse.storage.array_file import checked_offsets, map_array, save_array

if TYPE_CHECKING:
    from lexfuse.channels.dense.stored_part import VectorPart

ROUNDS = 10  # of k-means
SAMPLE = 64  # rows of each cluster, about, that k-means sees
_BLOCK = 2048  # rows that are compared with all centres at once


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Clusters:
    """Centres, and the rows of each cluster: those from bounds[i] to bounds[i + 1] in `rows`.

    >>> from lexfuse.channels.dense.stored_part import VectorPart
    >>> part = VectorPart.of(np.array([[0, 1], [1, 0], [0, 0.9]], dtype=np.float32))
    >>> found = Clusters.of(part, count=2)
    >>> sorted(found.rows[found.bounds[at] : found.bounds[at + 1]].tolist() for at in range(2))
    [[0, 2], [1]]
    """

    centres: F32
    bounds: I64
    rows: I32

    @classmethod
    def of(cls, part: VectorPart, count: int | None = None, seed: int = 0) -> Clusters:
        """Cluster the rows of a part.

        >>> from lexfuse.channels.dense.stored_part import VectorPart
        >>> Clusters.of(VectorPart.of(np.eye(3, dtype=np.float32)), count=4)
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: 3 rows cannot make 4 clusters
        """
        count = min(round(2 * part.rows**0.5), part.rows) if count is None else count
        if not 0 <= count <= part.rows or (part.rows and not count):
            raise ConfigError(f"{part.rows:,} rows cannot make {count:,} clusters")
        if not part.rows:
            empty = np.empty((0, part.dimension), dtype=np.float32)
            return cls(empty, np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
        chosen = np.random.default_rng(seed).permutation(part.rows)
        centres = part.taken(chosen[:count])
        sample = part.taken(np.sort(chosen[: SAMPLE * count]))
        for _ in range(ROUNDS):
            centres = _moved(centres, sample, _nearest(sample.__getitem__, len(sample), centres))
        near = _nearest(lambda rows: part.block(rows.start, rows.stop), part.rows, centres)
        sizes = np.bincount(near, minlength=count)
        bounds = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
        return cls(read_only(centres), read_only(bounds), read_only(np.argsort(near, kind="stable").astype(np.int32)))

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the arrays into the folder of their part and yield each file."""
        yield save_array(folder / "clusters.centres.npy", self.centres.reshape(-1))
        yield save_array(folder / "clusters.bounds.npy", self.bounds)
        yield save_array(folder / "clusters.rows.npy", self.rows)

    @classmethod
    def load(cls, folder: Path, part: VectorPart) -> Clusters:
        """Map saved clusters of a part into memory."""
        centres = map_array(folder / "clusters.centres.npy", np.float32)
        bounds, rows = map_array(folder / "clusters.bounds.npy", np.int64), map_array(folder / "clusters.rows.npy", np.int32)
        checked_offsets(bounds, part.rows, folder / "clusters.bounds.npy")
        count = len(bounds) - 1
        if len(centres) != count * part.dimension or not np.isfinite(centres).all() or not _all_of(rows, part.rows):
            raise DataError("the clusters do not belong to the vectors; restore them, or rebuild the index", path=folder)
        return cls(centres.reshape(count, part.dimension), bounds, rows)


def _all_of(rows: I32, count: int) -> bool:
    """Whether every row is there once."""
    if len(rows) != count or (count and not (rows.min() >= 0 and rows.max() < count)):
        return False
    return bool((np.bincount(rows, minlength=count) == 1).all())


def _nearest(rows_of: Callable[[slice], F32], count: int, centres: F32) -> I32:
    """The nearest centre of every row: the highest row * centre - |centre|^2 / 2."""
    near = np.empty(count, dtype=np.int32)
    half = (centres * centres).sum(axis=1) / 2

    def work(first: int, last: int) -> None:
        near[first:last] = (rows_of(slice(first, last)) @ centres.T - half).argmax(axis=1)

    with one_core_each():
        run_on_cores(work, count, _BLOCK)
    return near


def _moved(centres: F32, sample: F32, near: I32) -> F32:
    """Every centre in the middle of its rows; one without rows stays where it is."""
    by_centre = np.argsort(near, kind="stable")
    used, first = np.unique(near[by_centre], return_index=True)
    sizes = np.diff(np.append(first, len(near)))
    moved = centres.copy()
    moved[used] = np.add.reduceat(sample[by_centre], first) / sizes[:, None].astype(np.float32)
    return moved
