"""Rows that may belong to the best k documents, kept while scores with a known error come in.

Every score comes as a lower and an upper bound. The k-th highest lower bound of the documents seen so far is the floor: k
documents reach it for certain, so a row whose upper bound is below it can be dropped.
"""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F32, F64, I32, I64

ROOM = 4  # times k: rows a query may have gathered since the floor was raised last


class CandidateRows:
    """Candidate rows of several queries.

    `owner` is the document of every row, or empty where every row is a document of its own.

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
