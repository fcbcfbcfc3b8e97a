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
from lexfuse.channels.retriever import Mask, checked_k
from lexfuse.channels.sparse.heavy_postings import CANDIDATES, HEAVIEST, HeavyPostings
from lexfuse.channels.sparse.learned_weights import LearnedWeights
from lexfuse.channels.term_retriever import TermRetriever
from lexfuse.data.arrays import F32, F64, I32, offsets_of
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.flops import query_flops
from lexfuse.encode.query_table import QueryTable
from lexfuse.encode.shared_encoders import unshared
from lexfuse.kernels.postings import best
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.segments.channel_postings import Postings

FILTERED = 0.25  # of the documents: a filter that allows fewer leaves too few candidates
LOOK_UP = 80  # postings are added while one is looked up in a long list


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

    def rank(self, queries: Queries, encoded: EncodedQueries, k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before; approximate where that was asked for and is faster."""
        if not self.approximate or not self._is_worthwhile(encoded, k, within):
            return super().rank(queries, encoded, k, within=within)
        numbering = self.numbering
        mask, wanted = numbering.mask(within), CANDIDATES * k
        rows = encoded.starts * len(self.heavy.starts.T)
        starts, ends = (edges.ravel() for edges in self.heavy.ranges(encoded.terms))
        factors = np.repeat(encoded.weights, len(self.heavy.starts.T))
        offsets, docs, _ = best(rows, starts, ends, factors, self.heavy.docs, self.heavy.impacts, numbering.order, mask, wanted)
        if np.diff(offsets).min(initial=wanted) < wanted:  # whole lists may hold more
            return super().rank(queries, encoded, k, within=within)
        query = np.repeat(np.arange(len(queries), dtype=np.int32), np.diff(offsets))
        scores = self.raw_scores(encoded, query, docs)
        by_score = np.lexsort((numbering.order[docs], -scores, query)).reshape(len(queries), wanted)[:, :k].ravel()
        places = numbering.places[docs[by_score]]
        ends_at = np.arange(len(queries) + 1, dtype=np.int64) * k
        return Run(self.name, queries.ids, self.snapshot.ids, ends_at, places, scores[by_score], low=self.bounds.lows(queries))

    def _is_worthwhile(self, encoded: EncodedQueries, k: int, within: Mask | None) -> bool:
        """Whether there are candidates enough, found and scored sooner than all postings are added."""
        few = within is not None and within.sum() < FILTERED * len(within)
        candidates = CANDIDATES * checked_k(k)
        if few or not len(encoded.terms) or candidates > HEAVIEST:
            return False
        whole, heavy = (int(np.subtract(*some.ranges(encoded.terms)[::-1]).sum()) for some in (self.postings, self.heavy))
        return whole > heavy + LOOK_UP * candidates * len(encoded.terms)

    @cached_property
    def heavy(self) -> HeavyPostings:
        """The heaviest postings of every term."""
        return HeavyPostings.of(self.postings, self.impacts, HEAVIEST)

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
