"""Which rows may be among the best k documents: quick scores with a known error, by the way that suits the work.

Every score comes as a lower and an upper bound. The k-th highest lower bound of the documents seen so far is the floor: k
documents reach it for certain, so a row whose upper bound is below it can be dropped.

A batch of queries takes matrix products by blocks of rows that stay in the processor's cache; after the first blocks few scores
reach the floor. In 32-bit floats a dot product of d terms is off by no more than about d * 2^-24 * |query| * |row|, whatever the
order of additions; with that as the error, exact scores of the candidates give the exact ranking. Few queries take rows of bytes
(`lexfuse.channels.dense.byte_scan`), once they have been asked often enough to be worth the copy in memory. Where there are few
rows, that copy is of 32-bit floats, and with compiled loops every row is scored exactly: that takes less time than to choose.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lexfuse.channels.dense.byte_scan import ByteRows, scanned
from lexfuse.channels.dense.exact_scores import error_of
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage, in_floats
from lexfuse.data.arrays import F32, F64, I32, I64, Bools
from lexfuse.kernels.compilation import compiled_is_due
from lexfuse.kernels.threads import one_core_each, run_on_cores
from lexfuse.storage.part_cache import made_once

ROOM = 4  # times k: rows a query may have gathered since the floor was raised last
FIRST_BLOCK = 512  # rows: with no floor yet, all of them are candidates
BLOCK = 4096  # rows
SHARED_FROM = 1 << 23  # products of the rows that are left: fewer take less time than starting a thread
GATHER = 0.5  # of the rows are allowed: below that, they are copied together before they are multiplied
FEW = 3  # queries that are asked one by one; for more, products are faster
WORTH = 8  # times that few queries are asked before rows are copied
SCANNED_FROM = 1 << 22  # numbers in all rows; fewer take at most 16 MiB as 32-bit floats

_in_bytes = made_once(ByteRows.of)
_in_floats = made_once(in_floats)


class CandidateRows:
    """Candidate rows of several queries.

    `owner` is the document of every row, or empty where every row is a document.

    >>> kept = CandidateRows(queries=1, k=1, owner=np.empty(0, np.int32))
    >>> kept.add(np.array([0, 0]), np.array([7, 8]), np.array([0.5, 0.1], np.float32), error=0.01)
    >>> kept.raise_floor()
    >>> kept.rows()[1].tolist(), kept.floor.tolist()
    ([7], [0.49...])
    """

    def __init__(self, queries: int, k: int, owner: I32, floor: F64 | None = None) -> None:
        """Start with no candidates; a given floor never moves."""
        self.floor: F64 = np.full(queries, -np.inf) if floor is None else floor
        self._k = k
        self._owner = owner
        self._fixed = floor is not None
        self._new = 0
        self._kept = 0
        self._query: list[I64] = [np.empty(0, dtype=np.int64)]
        self._row: list[I64] = [np.empty(0, dtype=np.int64)]
        self._lower: list[F64] = [np.empty(0, dtype=np.float64)]
        self._upper: list[F64] = [np.empty(0, dtype=np.float64)]

    def add(self, query: I64, row: I64, score: F32 | F64, error: F64 | float) -> None:
        """Rows of queries with their scores, off by no more than `error`; once there are many, the floor is raised."""
        self._query.append(query)
        self._row.append(row)
        self._lower.append(score - np.float64(error))
        self._upper.append(score + np.float64(error))
        self._new += len(query)
        if self._new > max(ROOM * self._k * len(self.floor), self._kept):  # where many are equal, most stay each time
            self.raise_floor()

    def raise_floor(self) -> None:
        """Raise the floors to the k-th highest lower bounds and drop what is below."""
        self._new = 0
        query, row = np.concatenate(self._query), np.concatenate(self._row)
        lower, upper = np.concatenate(self._lower), np.concatenate(self._upper)
        if not self._fixed:
            if len(self.floor) > 1:
                by_query = np.argsort(query.astype(np.int16 if len(self.floor) < 1 << 15 else np.int64), kind="stable")
                query, row, lower, upper = query[by_query], row[by_query], lower[by_query], upper[by_query]
            self._raise(query, row, lower)
        kept = upper >= self.floor[query]
        self._query, self._row = [query[kept]], [row[kept]]
        self._lower, self._upper = [lower[kept]], [upper[kept]]
        self._kept = len(self._row[0])

    def _raise(self, query: I64, row: I64, lower: F64) -> None:
        if len(self._owner):
            query, lower = _best_of_owners(query, self._owner[row], lower)
        counts = np.bincount(query, minlength=len(self.floor))
        if not len(query) or counts.max() < self._k:
            return
        starts = np.cumsum(counts) - counts
        table = np.full((len(counts), int(counts.max())), -np.inf)
        table[query, np.arange(len(query)) - starts[query]] = lower
        place = table.shape[1] - self._k
        self.floor = np.maximum(self.floor, np.partition(table, place, axis=1)[:, place])

    def rows(self) -> tuple[I64, I64]:
        """What is left: a query and a row for each candidate, by query unless the floor was given."""
        self.raise_floor()
        return self._query[0], self._row[0]


def _best_of_owners(query: I64, owner: I32, lower: F64) -> tuple[I64, F64]:
    """The highest bound of each document of each query; queries ascend."""
    key = query << 32 | owner
    by_key = np.argsort(key)
    key = key[by_key]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return key[first] >> 32, np.maximum.reduceat(lower[by_key], first) if len(first) else lower


def add_block_products(part: VectorPart, base: int, queries: F32, allowed: Bools, candidates: CandidateRows) -> None:
    """Add the rows of a part that may be among the best; `base` is the number of its first row.

    >>> kept = CandidateRows(1, 1, np.empty(0, np.int32))
    >>> part = VectorPart.of(np.array([[1, 2], [3, 4]], dtype=np.float32))
    >>> add_block_products(part, 10, np.ones((1, 2), dtype=np.float32), np.empty(0, np.bool_), kept)
    >>> kept.rows()[1].tolist()
    [11]
    """
    product = _BlockProduct(part, base, queries, allowed, candidates)
    with one_core_each() as alone:
        done, size = 0, FIRST_BLOCK
        while done < product.rows and size < BLOCK:  # blocks grow while the floor rises
            product.work(done, min(done + size, product.rows))
            done += size
            size *= 2
        if alone and (product.rows - done) * queries.size > SHARED_FROM:
            run_on_cores(lambda first, last: product.work(done + first, done + last), product.rows - done, BLOCK)
        else:
            for first in range(done, product.rows, BLOCK):
                product.work(first, min(first + BLOCK, product.rows))


class _BlockProduct:
    """The rows of a part times queries, block by block, from several threads."""

    def __init__(self, part: VectorPart, base: int, queries: F32, allowed: Bools, candidates: CandidateRows) -> None:
        self.part, self.base, self.queries, self.allowed, self.candidates = part, base, queries, allowed, candidates
        self.norms: F64 = np.sqrt((queries.astype(np.float64) ** 2).sum(axis=1))
        self.gathered = len(allowed) > 0 and np.count_nonzero(allowed) < GATHER * len(allowed)
        self.chosen = np.flatnonzero(allowed) if self.gathered else np.empty(0, dtype=np.int64)
        self.rows = len(self.chosen) if self.gathered else part.rows
        self.lock = threading.Lock()
        self.own = threading.local()

    def work(self, first: int, last: int) -> None:
        """Add what a block has above the floor."""
        part = self.part
        chosen = self.chosen[first:last] if self.gathered else np.arange(first, last)
        rows = part.taken(chosen) if self.gathered else part.block(first, last)
        norms = part.norms[chosen] if self.gathered else part.norms[first:last]
        error = error_of(self.norms, float(norms.max()), part.dimension)
        scores = np.matmul(self.queries, rows.T, out=self._scores(last - first))
        floor = np.nextafter((self.candidates.floor - error).astype(np.float32), np.float32(-np.inf))
        hits = np.flatnonzero(scores >= floor[:, None])
        query, column = np.divmod(hits, last - first)
        if len(self.allowed) and not self.gathered:
            kept = self.allowed[chosen[column]]
            hits, query, column = hits[kept], query[kept], column[kept]
        if len(hits):
            with self.lock:
                self.candidates.add(query, chosen[column] + self.base, scores.reshape(-1)[hits], error[query])

    def _scores(self, size: int) -> F32:
        """Where the scores of a block go: the same place again in the same thread."""
        if size != BLOCK:
            return np.empty((len(self.queries), size), dtype=np.float32)
        if not hasattr(self.own, "scores"):
            self.own.scores = np.empty((len(self.queries), size), dtype=np.float32)
        scores: F32 = self.own.scores
        return scores


class CandidateScreen:
    """Candidate rows of queries; rows are numbered part after part.

    `owner` is the document of every row, or empty where every row is a document: k counts documents.

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

    def is_worth(self, queries: int) -> bool:
        """Whether it takes less time to choose candidates than to score all rows of the copy in floats exactly."""
        return not self._floats or not 0 < queries <= FEW or not compiled_is_due(queries * self.numbers)

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
        """Copy the rows after enough queries; only compiled loops read rows of bytes."""
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
