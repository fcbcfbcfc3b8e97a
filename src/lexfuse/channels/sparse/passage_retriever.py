"""Learned sparse retrieval by passages: a document scores as its best passage does.

The posting lists have a row for each passage, so raw numbers are those of passages. The best passages are ranked until they
belong to enough documents. A document ranks where its best passage does, so this is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexfuse.channels.explanation import TermPart
from lexfuse.channels.query_terms import EncodedQueries
from lexfuse.channels.retriever import Mask, checked_k, requested_pairs
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.data.arrays import F32, I32, I64, offsets_of
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run

FIRST = 4  # times k: passages that are ranked first; then four times as many


@dataclass(frozen=True)
class PassageSparseRetriever(SparseRetriever):
    """Search over a channel with a sparse vector for each passage.

    >>> from lexfuse.channels.registry import open_retriever
    >>> splade = open_retriever(snapshot, "splade-passages")  # doctest: +SKIP
    """

    def rank(self, queries: Queries, encoded: EncodedQueries, k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before: the first k distinct documents of a ranking of passages."""
        depth = FIRST * checked_k(k)
        while True:
            run = super().rank(queries, encoded, depth, within=within)
            query = np.repeat(np.arange(len(queries)), np.diff(run.offsets))
            _, first = np.unique(query * len(self.snapshot) + run.doc, return_index=True)
            first.sort()
            counts = np.bincount(query[first], minlength=len(queries))
            whole = np.diff(run.offsets) < depth  # every passage that shares a term with the query is there
            if (whole | (counts >= k)).all():
                break
            depth *= FIRST
        starts = offsets_of(counts)
        kept = first[np.arange(len(first)) - starts[query[first]] < k]
        offsets = offsets_of(np.minimum(counts, k))
        return Run(self.name, queries.ids, self.snapshot.ids, offsets, run.doc[kept], run.score[kept], low=run.low)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair: that of the document's best passage; NaN where the channel does not hold it yet."""
        query, doc = requested_pairs(queries, pairs, self.snapshot.ids)
        counts, rows = self._rows(doc)
        scores = np.full(len(doc), np.nan, dtype=np.float32)
        if len(rows):
            held = counts > 0
            each = self.raw_scores(self.read(queries), np.repeat(query, counts), rows)
            scores[held] = np.maximum.reduceat(each, offsets_of(counts[held])[:-1])
        return scores

    def _parts(self, encoded: EncodedQueries, docs: Sequence[str]) -> list[list[TermPart]]:
        """What each term adds in the best passage of each document."""
        doc = np.array([self.snapshot.ids.ordinal(one) for one in docs], dtype=np.int32)
        counts, rows = self._rows(doc)
        each = self.raw_scores(encoded, np.zeros(len(rows), dtype=np.int32), rows)
        best = np.full(len(doc), -1, dtype=np.int32)
        for at, (start, end) in enumerate(zip(offsets_of(counts)[:-1].tolist(), offsets_of(counts)[1:].tolist(), strict=True)):
            best[at] = rows[start + int(each[start:end].argmax())] if end > start else -1
        return self._term_parts(encoded, best)

    def _rows(self, doc: I32) -> tuple[I64, I32]:
        """The number of passages of each document, and all of them, one document after the other."""
        by_doc, starts = self._passages
        counts = starts[doc + 1] - starts[doc]
        within = np.arange(int(counts.sum())) - np.repeat(offsets_of(counts)[:-1], counts)
        return counts, by_doc[np.repeat(starts[doc], counts) + within]

    @cached_property
    def _passages(self) -> tuple[I32, I64]:
        """The passages of live documents, sorted by document, and where those of each begin."""
        places = self.numbering.places
        by_doc = np.argsort(places, kind="stable")[int((places < 0).sum()) :]
        return by_doc.astype(np.int32), np.searchsorted(places[by_doc], np.arange(len(self.snapshot) + 1))
