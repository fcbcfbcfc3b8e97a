"""The mean vector of every document: by it, documents are chosen where the mean of their passages' scores counts."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import frozen
from lexfuse.index.vectors import Storage, VectorPart

_BLOCK = 1 << 20  # numbers that are added up at once


def means_of(part: VectorPart) -> VectorPart:
    """A part with one row for every document that has any, the mean of its rows.

    >>> part = VectorPart.of(np.array([[1, 0], [0, 1], [5, 5]], dtype=np.float32), starts=[0, 2, 2, 3])
    >>> means_of(part).matrix.tolist()
    [[0.5, 0.5], [5.0, 5.0]]
    """
    counts = np.diff(part.starts)
    docs = np.flatnonzero(counts)
    first, counts = part.starts[docs], counts[docs]
    matrix = np.empty((len(docs), part.dimension), dtype=np.float32)
    norms = np.empty(len(docs), dtype=np.float32)
    begin = 0
    while begin < len(docs):
        room = first[begin] + max(_BLOCK // part.dimension, int(counts[begin]))
        end = int(np.searchsorted(first + counts, room, side="right"))
        rows = part.block(int(first[begin]), int(first[end - 1] + counts[end - 1])).astype(np.float64)
        means = np.add.reduceat(rows, first[begin:end] - first[begin]) / counts[begin:end, None]
        matrix[begin:end] = means
        norms[begin:end] = np.sqrt((means**2).sum(axis=1)) * (1 + 2.0**-20)
        begin = end
    # Where rows cancel out, what is lost in their sum is small beside the rows, not beside the mean.
    norms += np.maximum.reduceat(part.norms, first) * np.float32(2.0**-16) if len(docs) else 0
    starts = np.arange(len(docs) + 1, dtype=np.int64)
    spans = np.zeros((len(docs), 2), dtype=np.int32)
    return VectorPart(Storage.FP32, frozen(starts), frozen(spans), frozen(matrix), np.empty(0, np.float32), frozen(norms))
