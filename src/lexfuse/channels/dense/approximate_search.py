"""Approximate search over dense vectors: a query looks at the clusters whose centres are nearest to it.

What is found there is scored and ranked exactly as in `lexfuse.channels.dense.flat_search`; approximate is only that a document
whose rows are all in other clusters is not seen. Filters are true filters: the fewer documents are allowed, the more clusters
are looked at, and where few are allowed, or the clusters hold fewer than k documents, search is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from lexfuse.channels.dense.byte_scan import UNDERFLOW, ByteRows, Query16
from lexfuse.channels.dense.candidate_screen import CandidateRows, CandidateScreen, add_block_products
from lexfuse.channels.dense.clusters import Clusters
from lexfuse.channels.dense.flat_search import FlatSearch
from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.data.arrays import F32, F64, I32, I64, Bools
from lexfuse.errors import ConfigError
from lexfuse.kernels.compilation import read_only_view, read_only_views
from lexfuse.kernels.threads import one_core_each, run_on_cores
from lexfuse.storage.part_cache import made_once

PROBES = 32  # clusters
FEW = 0.1  # of the documents are allowed: below that, search is exact
ENOUGH = 8  # times k: rows that are looked at, at least


class ApproximateSearch(FlatSearch):
    """Search over parts of which the large ones have clusters; the others are searched exactly.

    >>> part = VectorPart.of(np.eye(3, dtype=np.float32))
    >>> search = ApproximateSearch([part], np.arange(3, dtype=np.int32), [Clusters.of(part, count=3)], probes=1)
    >>> search.best(np.array([[0, 3, 1]], dtype=np.float32), k=1)[1].tolist()
    [1]
    """

    def __init__(
        self, parts: Sequence[VectorPart], order: I32, clusters: Sequence[Clusters | None], probes: int = PROBES
    ) -> None:
        """Take parts and their clusters as they are; nothing is read yet."""
        super().__init__(parts, order)
        if len(clusters) != len(parts):
            raise ConfigError(f"{len(parts):,} parts need as many clusters (or None), got {len(clusters):,}")
        if probes < 1:
            raise ConfigError(f"at least 1 cluster must be searched, got {probes}")
        self._clusters = clusters
        self._probes = probes

    @cached_property
    def _screen(self) -> CandidateScreen:
        return _ClusterProbe(self.parts, self._owner, self._clusters, self._probes)


@made_once
def _in_bytes(clusters: Clusters, part: VectorPart) -> ByteRows:
    """The rows of a part in bytes, cluster after cluster."""
    return ByteRows.arranged(part, clusters.rows)


class _ClusterProbe(CandidateScreen):
    """Candidates from the nearest clusters of every part that has clusters, and from all rows of the others."""

    def __init__(self, parts: Sequence[VectorPart], owner: I32, clusters: Sequence[Clusters | None], probes: int) -> None:
        super().__init__(parts, owner)
        self._clusters = [some for part, some in zip(parts, clusters, strict=True) if part.rows]
        self._probes = probes
        self._ordered: list[ByteRows | None] = []

    def prepare(self) -> None:
        """Copy rows in bytes, cluster after cluster."""
        if not self._ordered:
            pairs = zip(self.parts, self._clusters, strict=True)
            self._ordered = [None if some is None else _in_bytes(some, part) for part, some in pairs]

    def rows(self, queries: F32, k: int, allowed: Bools, floor: F64 | None = None) -> tuple[I64, I64]:
        """What `CandidateScreen.rows` gives, of the clusters that are looked at."""
        share = np.count_nonzero(allowed) / len(allowed) if len(allowed) else 1.0
        if share < FEW:
            return super().rows(queries, k, allowed, floor)
        self.prepare()
        if len(queries) == 1:
            with one_core_each():  # on a busy machine, waiting for another core takes longer
                rows = self._probed(queries, k, allowed, floor, share)
            return np.zeros(len(rows), dtype=np.int64), rows
        found: list[I64] = [np.empty(0, dtype=np.int64)] * len(queries)

        def work(first: int, last: int) -> None:
            for query in range(first, last):
                own = None if floor is None else floor[query : query + 1]
                found[query] = self._probed(queries[query : query + 1], k, allowed, own, share)

        with one_core_each():
            run_on_cores(work, len(queries), 1)
        return np.repeat(np.arange(len(queries)), [len(rows) for rows in found]), np.concatenate(found)

    @cached_property
    def _most_rows(self) -> int:
        """The highest number of rows of a document."""
        return int(np.bincount(self.owner).max()) if len(self.owner) else 1

    def _probed(self, query: F32, k: int, allowed: Bools, floor: F64 | None, share: float) -> I64:
        """The candidates of one query."""
        candidates = CandidateRows(1, k, self.owner, floor)
        needed, least = (k * self._most_rows, -np.inf) if floor is None else (0, float(floor[0]))  # rows of at least k documents
        for at, (first, last) in enumerate(pairwise(self.bases)):
            clusters, ordered = self._clusters[at], self._ordered[at]
            if clusters is None or ordered is None:
                add_block_products(self.parts[at], first, query, allowed[first:last], candidates)
                continue
            wanted = self._wanted(clusters, query[0], ENOUGH * k, share)
            row, lower, upper = _scanned(clusters, ordered, query[0], wanted, allowed[first:last], needed, least)
            if needed == k <= len(row) and len(self.parts) == 1:  # the rows that the floor leaves, one for each document
                return row
            candidates.add(np.zeros(len(row), dtype=np.int64), first + row, (upper + lower) / 2, (upper - lower) / 2)
        found = candidates.rows()[1]
        documents = len(np.unique(self.owner[found])) if len(self.owner) else len(found)
        return found if documents >= k or floor is not None else super().rows(query, k, allowed)[1]

    def _wanted(self, clusters: Clusters, query: F32, rows: int, share: float) -> I64:
        """The clusters to look at: the nearest, and more of them where a filter leaves few rows."""
        nearest = np.argsort(-(clusters.centres @ query), kind="stable")
        probes = round(self._probes / share)
        if (clusters.bounds[nearest[:probes] + 1] - clusters.bounds[nearest[:probes]]).sum() * share >= rows:
            return nearest[:probes]
        seen = np.cumsum(np.diff(clusters.bounds)[nearest]) * share
        return nearest[: max(probes, int(np.searchsorted(seen, rows)) + 1)]


def _scanned(
    clusters: Clusters, ordered: ByteRows, query: F32, wanted: I64, allowed: Bools, k: int, least: float
) -> tuple[I64, F64, F64]:
    """The rows of clusters that may be among the best k, and the bounds of their scores."""
    from lexfuse.kernels.dot_product_numba import scan_ranges

    asked = Query16.of(query, ordered.rest)
    firsts, lasts = clusters.bounds[wanted], clusters.bounds[wanted + 1]
    size = int((lasts - firsts).sum())
    row, lower, upper = np.empty(size, np.int64), np.empty(size, np.float32), np.empty(size, np.float32)
    views = read_only_views(ordered.codes, ordered.scales, clusters.rows, firsts, lasts, asked.numbers)
    found = scan_ranges(*views, asked.step, asked.error, read_only_view(allowed), k, least - UNDERFLOW, row, lower, upper)
    return row[:found], lower[:found].astype(np.float64) - UNDERFLOW, upper[:found].astype(np.float64) + UNDERFLOW
