"""What lexical retrievers share: a score is a sum over the query's distinct terms of weight in the query x impact.

BM25, TF-IDF and cosines differ only in the impact, one number per posting, and in the weights of query terms.
Nothing is approximated: every posting of every term is added up, and `score` adds in the order of `retrieve`, so
that a pair has the same bits in both, in however many segments the documents lie.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever, SearchWork
from lexfuse.channels.explanation import Evidence, TermPart
from lexfuse.channels.query_terms import EncodedQueries, QueryTermReader
from lexfuse.channels.retriever import Mask, checked_k, held_scores, requested_pairs
from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot

QUICK_SCORES = 1 << 18  # documents times queries: fewer are ranked by their words in about a millisecond


@dataclass(frozen=True)
class TermRetriever(ChannelRetriever):
    """A retriever over the posting lists of one snapshot; a subclass says which, with which idf and impacts."""

    shows_terms: ClassVar[bool] = True

    snapshot: Snapshot
    name: str = field(default="lexical", kw_only=True)

    @property
    @abstractmethod
    def term_idf(self) -> F64:
        """The inverse document frequency of every term of the vocabulary."""

    @property
    @abstractmethod
    def impacts(self) -> F32:
        """What each posting adds to a score, for a query weight of 1."""

    @property
    def postings(self) -> Postings:
        """The posting lists it reads."""
        return self.snapshot.postings(LEXICAL)

    @property
    def numbering(self) -> Numbering:
        """The raw numbers of the documents in the posting lists."""
        return self.snapshot.numbering

    @cached_property
    def _reader(self) -> QueryTermReader:
        return QueryTermReader(self.snapshot, self.postings)

    def read(self, queries: Queries) -> EncodedQueries:
        """The queries as terms of the index; without unknown words and stop words."""
        return self._reader.read(queries)

    def is_quick(self, queries: Queries) -> bool:
        """Whether few documents are ranked."""
        return len(queries) * len(self.numbering) <= QUICK_SCORES

    def rank(self, queries: Queries, encoded: EncodedQueries, k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before; documents with a score above zero are ranked."""
        numbering = self.numbering
        offsets, docs, scores = self.best_raw(encoded, min(checked_k(k), len(numbering)), numbering.mask(within))
        places = numbering.places[docs]
        return Run(self.name, queries.ids, self.snapshot.ids, offsets, places, scores, low=self.bounds.lows(queries))

    def best_raw(self, encoded: EncodedQueries, k: int, mask: Mask) -> tuple[I64, I32, F32]:
        """The best k of every query by raw number, as offsets, documents and scores; an empty mask allows all."""
        from lexfuse.kernels.postings import best

        starts, ends, factors, rows = ranges_of(self.postings, encoded)
        return best(rows, starts, ends, factors, self.postings.docs, self.impacts, self.numbering.order, mask, k)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair of query and document in a run, in its order; 0 where they share no term.

        NaN where a channel does not hold the document yet.
        """
        encoded = self.read(queries)
        query, doc = requested_pairs(queries, pairs, self.snapshot.ids)
        raw = self.numbering.raw[doc]
        return held_scores(raw, lambda held: self.raw_scores(encoded, query[held], raw[held]))

    def raw_scores(self, encoded: EncodedQueries, query: I32, raw: I32) -> F32:
        """The exact scores of pairs of a query and a raw number of a document."""
        from lexfuse.kernels.postings import pair_scores

        starts, ends, factors, rows = ranges_of(self.postings, encoded)
        return pair_scores(query, raw, rows, starts, ends, factors, self.postings.docs, self.impacts)

    def work(self, queries: Queries) -> SearchWork:
        """2 for every posting of a term of the query."""
        starts, ends = self.postings.ranges(self.read(queries).terms)
        return SearchWork(len(self.postings), round(2 * float((ends - starts).sum() / max(len(queries), 1))))

    def unlisted(self, within: Mask | None) -> int:
        """What holds no term of a query scores 0."""
        holds = self.numbering.raw >= 0
        return int((holds if within is None else holds & within).sum())

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """What each term of a query adds to the documents' scores, largest first; the documents need not be ranked."""
        return [Evidence(terms=tuple(parts)) for parts in self._parts(self.read(Queries.of([query])), docs)]

    def _parts(self, encoded: EncodedQueries, docs: Sequence[str]) -> list[list[TermPart]]:
        return self._term_parts(encoded, self.numbering.raw[[self.snapshot.ids.ordinal(doc) for doc in docs]])

    def _term_parts(self, encoded: EncodedQueries, raw: I32) -> list[list[TermPart]]:
        postings, idf = self.postings, self.term_idf[encoded.terms].tolist()
        held, added = self._term_weights(encoded, raw)
        terms = [postings.vocabulary[term] for term in encoded.terms.tolist()]
        found = [
            [TermPart(*part) for part in zip(terms, encoded.weights.tolist(), own, idf, gains, strict=True)]
            for own, gains in zip(held.T.tolist(), added.T.tolist(), strict=True)
        ]
        return [sorted(parts, key=lambda part: (-part.contribution, part.term)) for parts in found]

    def _term_weights(self, encoded: EncodedQueries, raw: I32) -> tuple[F64, F64]:
        """What every term weighs in every document, and what it adds to the score: a row each term, 0 where it is not held."""
        postings, impacts = self.postings, self.impacts
        held, added = np.zeros((len(encoded.terms), len(raw))), np.zeros((len(encoded.terms), len(raw)))
        for row, (starts, ends) in enumerate(zip(*(edges.tolist() for edges in postings.ranges(encoded.terms)), strict=True)):
            for start, end in zip(starts, ends, strict=True):
                own = postings.docs[start:end]
                at = np.searchsorted(own, raw)
                there = np.flatnonzero(at < len(own))
                there = there[own[at[there]] == raw[there]]
                held[row, there] = postings.weights[start + at[there]]
                added[row, there] = impacts[start + at[there]]
        return held, added * encoded.weights[:, None].astype(np.float64)


def kept(postings: Postings, kind: str, parameters: tuple[Hashable, ...], make: Callable[[], F32]) -> F32:
    """Impacts for these parameters; those of the parameters used last are kept for each kind of retriever.

    >>> postings = Postings([], np.array([0]), np.array([], dtype=bool))
    >>> kept(postings, "bm25", (1.2,), lambda: np.ones(1, np.float32)) is kept(postings, "bm25", (1.2,), lambda: np.zeros(1))
    True
    """
    key = (kind, *parameters)
    impacts = postings.impacts.get(key)
    if impacts is None:
        impacts = make()
        for old in [old for old in list(postings.impacts) if isinstance(old, tuple) and old[0] == kind]:
            postings.impacts.pop(old, None)  # another thread may have been here
        postings.impacts[key] = impacts
    return impacts


class PostingRanges(Protocol):
    """Posting lists by term and segment."""

    def ranges(self, terms: I32) -> tuple[I64, I64]:
        """Start and end of each term's list in each segment, at [term, segment]."""


def ranges_of(postings: PostingRanges, encoded: EncodedQueries) -> tuple[I64, I64, F32, I64]:
    """Posting ranges of every query term in every segment, with the term's weight in the query.

    >>> encoded = EncodedQueries(np.array([0, 1]), np.array([3], np.int32), np.array([2.0], np.float32))
    >>> starts, ends, factors, rows = ranges_of(snapshot.postings("bm25"), encoded)
    >>> len(starts), factors.tolist(), rows.tolist()
    (1, [2.0], [0, 1])
    """
    starts, ends = postings.ranges(encoded.terms)
    segments = starts.shape[1]
    return starts.ravel(), ends.ravel(), np.repeat(encoded.weights, segments), encoded.starts * segments


def rank_signed(retriever: TermRetriever, queries: Queries, encoded: EncodedQueries, k: int, within: Mask | None) -> Run:
    """The best k of the documents that hold a term of the query, by summed impacts of any sign.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> bm25, queries = BM25(snapshot), Queries.of([Query("q", "retard de prêt", "fr")])
    >>> [hit.doc for hit in rank_signed(bm25, queries, bm25.read(queries), 10, None).hits("q")]
    ['lib-4', 'lib-3']
    """
    numbering, postings, impacts = retriever.numbering, retriever.postings, retriever.impacts
    candidates = numbering.alive if within is None else numbering.mask(within)
    query, doc, score = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.empty(0, np.float32)]
    for row in range(len(queries)):
        total = np.zeros(len(candidates), dtype=np.float32)
        held = np.zeros(len(candidates), dtype=np.bool_)
        for at in range(int(encoded.starts[row]), int(encoded.starts[row + 1])):
            term, weight = encoded.terms[at], encoded.weights[at]
            for start, end in zip(*(edges[0].tolist() for edges in postings.ranges(np.array([term]))), strict=True):
                total[postings.docs[start:end]] += weight * impacts[start:end]
                held[postings.docs[start:end]] = True
        raw = np.flatnonzero(held & candidates)
        best = raw[np.lexsort((numbering.order[raw], -total[raw]))[: checked_k(k)]]
        query.append(np.full(len(best), row, dtype=np.int32))
        doc.append(numbering.places[best])
        score.append(total[best])
    return Run.from_arrays(
        retriever.name, queries.ids, retriever.snapshot.ids, np.concatenate(query), np.concatenate(doc), np.concatenate(score)
    )
