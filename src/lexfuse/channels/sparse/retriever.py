"""Learned sparse retrieval: a model weighs the terms of its vocabulary for a text, also terms that the text does not hold.

The score is the dot product of the two vectors (FUSE eq. 3), or their cosine. Vectors of documents lie in an inverted file
like words do, and so are searched exactly and at the same speed. A channel that was made for approximate search finds candidates
among the heaviest postings (`heavy_postings`); the scores of what it finds are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from lexfuse.channels.channel_retriever import SearchWork
from lexfuse.channels.query_terms import EncodedQueries
from lexfuse.channels.retriever import Mask
from lexfuse.channels.sparse.heavy_postings import CANDIDATES, HeavyPostings, heaviest
from lexfuse.channels.sparse.learned_weights import LearnedWeights
from lexfuse.channels.term_retriever import TermRetriever, ranges_of
from lexfuse.data.arrays import F32, F64, I32, I64, Bools, offsets_of
from lexfuse.data.queries import Queries
from lexfuse.encode.flops import query_flops
from lexfuse.encode.query_table import QueryTable
from lexfuse.encode.shared_encoders import unshared
from lexfuse.kernels.postings import best, row_scores
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.segments.channel_postings import Postings

FILTERED = 0.25  # of the documents: a filter that allows fewer leaves too few candidates
ROW = 1000  # postings are added while a candidate is scored by its terms
CALL = 150_000  # postings are added while a single query is prepared


@dataclass(frozen=True)
class SparseRetriever(LearnedWeights, TermRetriever):
    """Search over a channel of learned sparse vectors.

    `explain` lists the terms that the query activates, each with its weights in query and document.

    >>> from lexfuse.channels.registry import open_retriever
    >>> splade = open_retriever(snapshot, "splade")  # doctest: +SKIP
    >>> splade.explain(Query("q", "démission"), "LEGIARTI000006901112")[0].term  # doctest: +SKIP
    'préavis'
    """

    approximate: bool = field(default=False, kw_only=True)

    def is_quick(self, queries: Queries) -> bool:
        """As words are, if a table gives the weights; a model is slower."""
        return isinstance(unshared(self.encoder), QueryTable) and super().is_quick(queries)

    @property
    def exhaustive(self) -> Self:
        """The same retriever, which adds every posting."""
        return replace(self, approximate=False)

    def best_raw(self, encoded: EncodedQueries, k: int, mask: Mask) -> tuple[I64, I32, F32]:
        """The best k of every query; each query is searched approximately if that was asked for and is faster."""
        quicker = self._quicker(encoded, k, mask)
        if not quicker.any():
            return super().best_raw(encoded, k, mask)
        found = []
        for start, end, quick in zip(encoded.starts[:-1].tolist(), encoded.starts[1:].tolist(), quicker.tolist(), strict=True):
            one = EncodedQueries(np.array([0, end - start]), encoded.terms[start:end], encoded.weights[start:end])
            docs, scores = self._near(one, k, mask) if quick else super().best_raw(one, k, mask)[1:]
            found.append((docs, scores))
        offsets = offsets_of(np.array([len(docs) for docs, _ in found], dtype=np.int64))
        return offsets, np.concatenate([docs for docs, _ in found]), np.concatenate([scores for _, scores in found])

    def _quicker(self, encoded: EncodedQueries, k: int, mask: Mask) -> Bools:
        """Which queries have candidates enough that are found and scored sooner than all postings are added."""
        candidates = CANDIDATES * k
        if not self.approximate or (len(mask) and mask.sum() < FILTERED * len(mask)):
            return np.zeros(len(encoded.starts) - 1, dtype=np.bool_)
        (starts, ends), (first, last) = (some.ranges(encoded.terms) for some in (self.postings, self.heavy))
        gains = (ends - starts).sum(axis=1) - (last - first).sum(axis=1)
        return np.diff(np.concatenate([[0], np.cumsum(gains)])[encoded.starts]) > ROW * candidates + CALL

    def _near(self, one: EncodedQueries, k: int, mask: Mask) -> tuple[I32, F32]:
        """The best k of a query among the best candidates; all documents where candidates are too few."""
        starts, ends, factors, rows = ranges_of(self.heavy, one)
        order, wanted = self.numbering.order, CANDIDATES * k
        docs = best(rows, starts, ends, factors, self.heavy.docs, self.heavy.impacts, order, mask, wanted)[1]
        if len(docs) < wanted:
            return super().best_raw(one, k, mask)[1:]
        heavy, terms = self.heavy, len(self.postings.vocabulary)
        scores = row_scores(docs, heavy.row_starts, heavy.row_terms, heavy.row_impacts, one.terms, one.weights, terms)
        by_score = np.lexsort((order[docs], -scores))[:k]
        return docs[by_score], scores[by_score]

    @cached_property
    def heavy(self) -> HeavyPostings:
        """The heaviest postings of every term."""
        return HeavyPostings.of(self.postings, self.impacts, heaviest(self.postings.documents))

    @property
    def postings(self) -> Postings:
        """The posting lists of the channel."""
        return self.snapshot.postings(self.channel)

    @property
    def numbering(self) -> Numbering:
        """The raw numbers of the documents in the channel."""
        return self.snapshot.channel_numbering(self.channel)

    @cached_property
    def term_idf(self) -> F64:
        """1 for every term: the weights hold the informativeness of a term."""
        return np.ones(len(self.postings.vocabulary))

    @cached_property
    def impacts(self) -> F32:
        """The weights as stored; for the cosine, of vectors made as long as one."""
        if not self.cosine:
            return self.postings.weights
        squares = np.zeros(len(self.numbering))
        for some in self.postings.stretches():  # every document is in one of them
            squares += np.bincount(some.docs, np.square(some.weights, dtype=np.float64), minlength=len(squares))
        lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
        return self.postings.spread(lambda some: (some.weights / lengths[some.docs]).astype(np.float32))

    def read(self, queries: Queries) -> EncodedQueries:
        """The activated terms of every query that a document holds too, with their weights."""
        rows = list(self.query_weights(queries))
        starts = offsets_of(np.array([len(row.terms) for row in rows], dtype=np.int64))
        terms = np.concatenate([np.empty(0, dtype=np.int32), *(row.terms for row in rows)])
        return EncodedQueries(starts, terms, np.concatenate([np.empty(0, dtype=np.float32), *(row.weights for row in rows)]))

    def work(self, queries: Queries) -> SearchWork:
        """The forward pass, and 2 for every posting of an activated term."""
        found = super().work(queries)
        return found._replace(flops=found.flops + query_flops(self.encoder, queries.text))

    def prepare(self) -> None:
        """Cut the lists for approximate search."""
        if self.approximate:
            _ = self.heavy

    @cached_property
    def term_numbers(self) -> I32:
        """The number in the channel's vocabulary of every term of the model, -1 for one that no document holds."""
        found = (self.postings.vocabulary.find(term) for term in self.encoder.terms)
        return np.array([-1 if number is None else number for number in found], dtype=np.int32)
