"""BM25, with k1, b and the form of idf chosen at query time.

FUSE eq. 1, BSARD eq. 3 and CJEU eq. 1 score a document by the sum over query terms of
idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length)), with Robertson's idf
ln((N - df + 0.5) / (df + 0.5)), which is negative for terms in more than half of the documents. Lucene, and
so the default here, uses ln(1 + (N - df + 0.5) / (df + 0.5)), always positive, and leaves out the constant k1 + 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever, Parameter, SearchWork
from lexfuse.channels.lexical.everyday_words import EverydayWords, Expansion
from lexfuse.channels.query_context import read_once
from lexfuse.channels.query_terms import EncodedQueries
from lexfuse.channels.retriever import Mask, Retriever, ScoreBounds
from lexfuse.channels.term_retriever import TermRetriever, kept
from lexfuse.data.arrays import F32, F64, I64
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot

K1, B = 1.2, 0.75  # the parameters where none are given


class IdfForm(StrEnum):
    """The form of the inverse document frequency."""

    LUCENE = "lucene"
    ROBERTSON = "robertson"


@dataclass(frozen=True)
class BM25Formula(ChannelRetriever):
    """The parameters of BM25 and what follows from them alone, wherever the words are."""

    marks_words: ClassVar[bool] = True

    snapshot: Snapshot
    k1: float = K1
    b: float = B
    idf: IdfForm = IdfForm.LUCENE
    name: str = field(default="bm25", kw_only=True)

    channel = LEXICAL

    def __post_init__(self) -> None:
        """Refuse parameters outside their range."""
        check_parameters(self.k1, self.b)

    @property
    def bounds(self) -> ScoreBounds:
        """Zero with Lucene's idf; with Robertson's the infimum depends on the query (see `lows`)."""
        return ScoreBounds(0.0 if self.idf is IdfForm.LUCENE else -np.inf)

    @property
    def score_parameters(self) -> Mapping[str, Parameter]:
        """k1 and b, and the form of the idf where it is not Lucene's."""
        other = {} if self.idf is IdfForm.LUCENE else {"idf": self.idf.value}
        return {"k1": float(self.k1), "b": float(self.b), **other}

    @property
    def scale(self) -> float:
        """The constant factor of all scores, which Lucene leaves out."""
        return 1.0 if self.idf is IdfForm.LUCENE else self.k1 + 1.0

    def inverse_frequency(self, documents: int, frequency: I64) -> F64:
        """The inverse document frequency of terms that this many documents hold."""
        odds = (documents - frequency + 0.5) / (frequency + 0.5)
        return np.log1p(odds) if self.idf is IdfForm.LUCENE else np.log(odds)

    def lows(self, idf: F64, weights: F32, starts: I64) -> F64:
        """The infimum of every query, from the idf and the weights of its terms (CSR).

        What a term adds is less than k1 + 1 times its idf. So the infimum of a query is the sum of that over its terms with a
        negative idf: a document that holds them alone, and ever more often, comes as near as one likes where b is 0.
        """
        if self.idf is IdfForm.LUCENE:
            return np.zeros(len(starts) - 1)
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        below = np.bincount(row, weights=np.minimum(idf, 0.0) * weights, minlength=len(starts) - 1)
        return np.asarray((self.k1 + 1.0) * below, dtype=np.float64)


@dataclass(frozen=True)
class BM25(BM25Formula, TermRetriever):
    """Okapi BM25 over the lexical channel of an index.

    With Robertson's idf every document that holds a term of the query is ranked, whatever the sign of its score;
    documents that hold none are not, though `score` gives them 0.

    >>> [hit.doc for hit in BM25(snapshot).retrieve(Queries.of([Query("q", "retard de prêt", "fr")]), 10).hits("q")]
    ['lib-4', 'lib-3']
    """

    everyday: EverydayWords | None = field(default=None, kw_only=True, compare=False, repr=False)  # None: as the query is written

    router_fields: ClassVar[tuple[str, ...]] = ("everyday",)
    takes_all_terms: ClassVar[bool] = True  # of a query, and not a choice of them

    def read(self, queries: Queries) -> EncodedQueries:
        """The terms of the queries, with those that the law uses for everyday words where a lexicon is given."""
        asked = tuple(zip(queries.text, queries.language, strict=True))
        return read_once(self.postings, ("bm25", self.everyday), [asked], lambda _: [self._expanded(queries)])[0]

    def _expanded(self, queries: Queries) -> EncodedQueries:
        plain = super().read(queries)
        return plain if self.everyday is None else self.everyday.expanded(queries, plain, self.postings)

    def rank(self, queries: Queries, encoded: EncodedQueries, k: int, *, within: Mask | None = None) -> Run:
        """The best k of the documents that hold a term of the query."""
        if self.idf is IdfForm.LUCENE:
            return super().rank(queries, encoded, k, within=within)
        idf = self.term_idf[encoded.terms]
        low = self.lows(idf, encoded.weights, encoded.starts)
        if (idf > 0).all():
            return replace(super().rank(queries, encoded, k, within=within), low=low)
        from lexfuse.channels.term_retriever import rank_signed

        return replace(rank_signed(self, queries, encoded, k, within), low=low)

    def work(self, queries: Queries) -> SearchWork:
        """4 for every term of the query and every document."""
        terms = self.read(queries).weights.sum() / max(len(queries), 1)
        return SearchWork(len(self.postings), round(4 * float(terms) * self.postings.documents))

    @cached_property
    def term_idf(self) -> F64:
        """The inverse document frequency of every term, over the documents that are not deleted."""
        return self.inverse_frequency(self.postings.documents, self.postings.document_frequency)

    @property
    def impacts(self) -> F32:
        """One number per posting, kept for the parameters used last."""
        return kept(self.postings, "bm25", (self.k1, self.b, self.idf), self._impacts)

    def _impacts(self) -> F32:
        postings = self.postings
        mean = postings.mean_length or 1.0
        norm = (self.k1 * (1 - self.b + self.b * postings.lengths.astype(np.float64) / mean)).astype(np.float32)
        idf = (self.term_idf * self.scale).astype(np.float32)
        return postings.spread(lambda some: some.weights / (some.weights + norm[some.docs]) * idf[some.terms])


def with_everyday_words(retriever: Retriever, words: EverydayWords) -> Retriever:
    """The same pipeline with a lexicon wherever it has BM25 on all terms of a question.

    >>> from lexfuse.text.everyday.lexicon import Lexicon
    >>> words = EverydayWords(snapshot, Lexicon.parse('fr = [{ words = ["pénalité"], law = ["retard"] }]'))
    >>> bm25 = with_everyday_words(BM25(snapshot), words)
    >>> [hit.doc for hit in bm25.retrieve(Queries.of([Query("q", "une pénalité", "fr")]), 10).hits("q")]
    ['lib-4']
    """
    return retriever.mapped(lambda one: replace(one, everyday=words) if isinstance(one, BM25) and one.takes_all_terms else one)


def expansions_of(retriever: Retriever, query: Query) -> tuple[Expansion, ...]:
    """What a pipeline adds to a question for its everyday words; nothing where it has no lexicon.

    >>> expansions_of(BM25(snapshot), Query("q", "mon patron", "fr"))
    ()
    """
    words = next((one.everyday for one in retriever.members(query) if isinstance(one, BM25) and one.everyday), None)
    return () if words is None else tuple(words.of_queries(Queries.of([query]))[0])


def check_parameters(k1: float, b: float) -> None:
    """Refuse parameters of BM25 outside their range.

    >>> check_parameters(1.2, 2.0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: b must lie between 0 and 1, got 2.0; 0.75 is usual
    """
    if not 0 <= k1 < np.inf:
        raise ConfigError(f"k1 must be 0 or more, got {k1}; {K1} is usual")
    if not 0 <= b <= 1:
        raise ConfigError(f"b must lie between 0 and 1, got {b}; {B} is usual")
