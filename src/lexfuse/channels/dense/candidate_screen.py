"""Which rows may be among the best: quick scores with a known error, by the way that suits the work.

A batch of queries takes matrix products (`lexfuse.channels.dense.block_products`). Few queries take rows of bytes
(`lexfuse.channels.dense.byte_scan`), once they have been asked often enough to be worth the copy in memory. Where there are few
rows, that copy is of 32-bit floats: converting 16-bit ones for every query takes longer than the products.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lexfuse.channels.dense.block_products import add_block_products
from lexfuse.channels.dense.byte_scan import ByteRows, scanned
from lexfuse.channels.dense.candidate_rows import CandidateRows
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage, in_floats
from lexfuse.data.arrays import F32, F64, I32, I64, Bools
from lexfuse.kernels.compilation import compiled_is_due
from lexfuse.storage.part_cache import made_once

FEW = 3  # queries that are asked one by one; for more, products are faster
WORTH = 8  # times that few queries are asked before rows are copied
SCANNED_FROM = 1 << 22  # numbers in all rows; fewer take at most 16 MiB as 32-bit floats


_in_bytes = made_once(ByteRows.of)
_in_floats = made_once(in_floats)


class CandidateScreen:
    """Candidate rows of queries; rows are numbered part after part.

    `owner` is the document of every row, or empty where every row is a document of its own: k counts documents.

    >>> screen = CandidateScreen([VectorPart.of(np.eye(3, dtype=np.float32))], np.empty(0, np.int32))
    >>> screen.rows(np.array([[0, 1, 0]], dtype=np.float32), 1, np.empty(0, np.bool_))[1].tolist()
    [1]
    """

    def __init__(self, parts: Sequence[VectorPart], owner: I32) -> None:
        """Look at parts; nothing is read yet."""
        self.parts = [part for part in parts if part.rows]
        self.owner = owner
        self.bases: list[int] = np.cumsum([0, *(part.rows for part in self.parts)]).tolist()
        self._asked = 0
        self._bytes: list[ByteRows] = []
        self._floats: list[VectorPart] = []

    @property
    def numbers(self) -> int:
        """How many numbers all rows have."""
        return sum(part.matrix.size for part in self.parts)

    def prepare(self) -> None:
        """Make the copy that single queries are worth now."""
        if self.numbers < SCANNED_FROM:
            self._floats = [part if part.storage is VectorStorage.FP32 else _in_floats(part) for part in self.parts]
        elif not self._bytes:
            self._bytes = [_in_bytes(part) for part in self.parts]

    def exact_part(self, part: VectorPart) -> VectorPart:
        """A part to compute exact scores with: its copy in floats, if there is one and its rows are the same numbers."""
        return _in_floats(part) if self._floats and part.storage is VectorStorage.FP16 else part

    def rows(self, queries: F32, k: int, allowed: Bools, floor: F64 | None = None) -> tuple[I64, I64]:
        """Query and row of all candidates for the best k documents, or all that may reach a given floor, by query.

        >>> screen = CandidateScreen([VectorPart.of(np.eye(3, dtype=np.float32))], np.empty(0, np.int32))
        >>> screen.rows(np.ones((1, 3), dtype=np.float32), 1, np.array([False, True, True]), np.array([0.5]))[1].tolist()
        [1, 2]
        """
        candidates = CandidateRows(len(queries), k, self.owner, floor)
        if len(queries) <= FEW:
            self._prepare_if_worth(len(queries))
        if len(queries) <= FEW and self._bytes:
            for query in range(len(queries)):
                self._scan(queries[query], query, k, allowed, candidates)
        else:
            for part, (first, last) in zip(self._floats or self.parts, pairwise(self.bases), strict=True):
                add_block_products(part, first, queries, allowed[first:last], candidates)
        return candidates.rows()

    def _prepare_if_worth(self, queries: int) -> None:
        """Copy the rows once enough queries were asked; rows of bytes are read by compiled loops alone."""
        if self._bytes or self._floats:
            return
        self._asked += queries
        scanned = self.numbers >= SCANNED_FROM
        stored = scanned and all(part.storage is VectorStorage.INT8 for part in self.parts)  # nothing to copy
        if (stored or self._asked > WORTH) and (not scanned or compiled_is_due(queries * self.numbers // 16)):
            self.prepare()

    def _scan(self, query: F32, number: int, k: int, allowed: Bools, candidates: CandidateRows) -> None:
        found = [
            scanned(rows, query, allowed[first:last])
            for rows, (first, last) in zip(self._bytes, pairwise(self.bases), strict=True)
        ]
        floor = float(candidates.floor[number])
        if floor == -np.inf:  # groups hold whole documents, so k of them that reach a value stand for k documents
            lower = np.concatenate([each.group_lower for each in found])
            floor = float(np.partition(lower, len(lower) - k)[len(lower) - k]) if len(lower) >= k else floor
        for each, base in zip(found, self.bases, strict=False):
            row, score, error = each.reaching(floor)
            candidates.add(np.full(len(row), number), row + base, score, error)
