"""Quick scores of many queries: matrix products by blocks of rows that stay in the processor's cache.

Only scores that reach the floor of their query are looked at (`lexfuse.channels.dense.candidate_rows`), and after the first
blocks these are few. In 32-bit floats a dot product of d terms is off by no more than about d * 2^-24 * |query| * |row|,
whatever the order of additions; with that as the error, exact scores of the candidates give the exact ranking.
"""

from __future__ import annotations

import threading

import numpy as np

from lexfuse.channels.dense.candidate_rows import CandidateRows
from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.data.arrays import F32, F64, Bools
from lexfuse.kernels.blas import one_core_each
from lexfuse.kernels.dot_product import error_of
from lexfuse.kernels.threads import run_on_cores

FIRST_BLOCK = 512  # rows: with no floor yet, all of them are candidates
BLOCK = 4096  # rows
SHARED_FROM = 1 << 23  # products of the rows that are left: fewer take less time than starting a thread
GATHER = 0.5  # of the rows are allowed: below that, they are copied together before they are multiplied


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
