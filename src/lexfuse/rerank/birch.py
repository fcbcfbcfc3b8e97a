"""Birch: the score of a document combined with those of its best sentences (RPRS eq. 9, after Yilmaz et al. 2019).

    score = a · S_doc + (1 - a) · sum over i of w_i · S_i

S_i is the score of the i-th best sentence, by a cross-encoder or a bi-encoder. Missing sentences of short documents add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Protocol

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.channels.retriever import Retriever
from lexfuse.data.arrays import F32, F64
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.normalisation import LEVEL
from lexfuse.rerank.cross_encoder import PairScorer
from lexfuse.rerank.reranker import DEPTH, Reranker, first_documents, reorder
from lexfuse.rerank.sentence_vectors import CandidateSentences, SentenceVectorReader
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.passages import Passage
from lexfuse.text.sentences.splitter import cut_long, split_sentences


class SentenceScorer(Protocol):
    """Scores of the sentences of documents."""

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The channel retrievers that it uses."""

    def scores(self, query: Query, docs: Sequence[str]) -> list[F32]:
        """The scores of every document's sentences, in text order; empty if unknown."""

    def sentences(self, doc: str) -> list[Passage]:
        """The spans of the scored sentences in the text of a document."""


@dataclass(frozen=True)
class CrossEncoderSentences:
    """By a cross-encoder that reads each sentence with the query; a document without text has no scores.

    >>> class Short:  # a scorer that prefers short texts
    ...     def scores(self, query, texts, aggregate=None, *, heads=()):
    ...         return np.array([1 / len(text.split()) for text in texts], np.float32)
    >>> CrossEncoderSentences(snapshot, Short()).scores(Query("q", "cotisation"), ["lib-2"])[0].tolist()
    [0.1666666716337204, 0.06666667014360428]
    """

    snapshot: Snapshot
    encoder: PairScorer
    words: int = 0  # maximum per sentence, 25 in RPRS; 0: no limit

    @property
    def members(self) -> tuple[Retriever, ...]:
        """None: it reads the texts."""
        return ()

    def sentences(self, doc: str) -> list[Passage]:
        """The sentences of a document."""
        return self._divided(self.snapshot.document(doc))

    def _divided(self, document: Document) -> list[Passage]:
        spans = split_sentences(document.text, document.language)
        return cut_long(spans, document.text, self.words) if self.words else spans

    def scores(self, query: Query, docs: Sequence[str]) -> list[F32]:
        """The scores of every document's sentences."""
        documents = [self.snapshot.document(doc) for doc in docs]
        texts = [[one.of(document.text) for one in self._divided(document)] for document in documents]
        every = self.encoder.scores(query.text, [text for some in texts for text in some])
        return np.split(every, list(accumulate(len(some) for some in texts))[:-1]) if texts else []


class SentenceMatch(StrEnum):
    """How a sentence is compared with a query of several sentences."""

    BEST = "best"  # with the nearest query sentence
    MEAN = "mean"  # all of them, on average


@dataclass(frozen=True)
class DenseSentences:
    """By a bi-encoder: the cosine of each passage of a dense sentence channel with the query's sentences."""

    dense: PassageRetriever
    match: SentenceMatch = SentenceMatch.BEST

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The retriever of the channel."""
        return (self.dense,)

    @cached_property
    def reader(self) -> SentenceVectorReader:
        """Reads the sentences of queries and documents."""
        return SentenceVectorReader(self.dense)

    def sentences(self, doc: str) -> list[Passage]:
        """The passages of a document in the channel."""
        return [Passage(start, end) for start, end in self._candidates([doc]).spans.tolist()]

    def scores(self, query: Query, docs: Sequence[str]) -> list[F32]:
        """The cosines of every document's passages; empty for a query without words."""
        asked, candidates = self.reader.query(query).vectors.astype(np.float64), self._candidates(docs)
        if not len(asked):
            return [np.empty(0, dtype=np.float32)] * len(docs)
        return np.split(self._cosines(asked, candidates.vectors), candidates.starts[1:-1]) if len(docs) else []

    def _candidates(self, docs: Sequence[str]) -> CandidateSentences:
        ids = self.dense.snapshot.ids
        return self.reader.candidates(np.array([ids.ordinal(doc) for doc in docs], dtype=np.int32))

    def _cosines(self, asked: F64, rows: F32) -> F32:
        if self.match is SentenceMatch.MEAN:
            compared = np.broadcast_to(asked.mean(axis=0), rows.shape)
        else:  # the matrix product only finds the nearest: its last bits depend on the shapes
            compared = asked[(rows @ asked.T.astype(np.float32)).argmax(axis=1)]
        cosines: F32 = np.einsum("ij,ij->i", rows, compared).astype(np.float32)
        return cosines


THIRDS = (1 / 3, 1 / 3, 1 / 3)


class DocumentScore(StrEnum):
    """The definition of S_doc.

    >>> DocumentScore.MIN_MAX.of(np.array([9.0, 5.0, 1.0])).tolist()
    [1.0, 0.5, 0.0]
    """

    RAW = "raw"  # the score itself, as in Birch; `a` must compensate for its scale
    MIN_MAX = "min-max"  # from 0 for the lowest of the reranked documents of the query to 1 for the highest

    def of(self, scores: F64) -> F64:
        """S_doc of the reranked documents of one query."""
        if self is DocumentScore.RAW or not len(scores):
            return scores
        low, high = scores.min(), scores.max()
        return (scores - low) / (high - low) if high > low else np.full(len(scores), LEVEL)


@dataclass(frozen=True, slots=True)
class BestSentence:
    """One of the best sentences: its span in the text, its score, and its weight."""

    passage: Passage
    score: float
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class SentenceEvidence:
    """The terms of equation 9 for the reranked documents of a run, in order.

    >>> SentenceEvidence(np.array([0.5]), np.array([[0.75, 0.25]])).scores(0.5, (1.0, 1.0)).tolist()
    [0.75]
    """

    document: F64  # S_doc
    best: F64  # S_1, S_2 … of every document, 0 if missing; a row of NaN if all are unknown

    def scores(self, a: float, weights: Sequence[float]) -> F32:
        """The score of every document; NaN if no sentence is known."""
        sentences = (self.best[:, : len(weights)] * np.asarray(weights, dtype=np.float64)).sum(axis=1)
        found: F32 = (a * self.document + (1 - a) * sentences).astype(np.float32)
        return found


@dataclass(frozen=True)
class Birch(Reranker):
    """The first `depth` documents by their score and the scores of their best sentences; by default the mean of three.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> from lexfuse.rerank.birch import CrossEncoderSentences
    >>> class Short:  # a scorer that prefers short texts
    ...     def scores(self, query, texts, aggregate=None, *, heads=()):
    ...         return np.array([1 / len(text.split()) for text in texts], np.float32)
    >>> birch = Birch(CrossEncoderSentences(snapshot, Short()), a=0.0, weights=(1.0, 0.5))
    >>> (BM25(snapshot) >> birch).retrieve(Queries.of([Query("q", "cotisation annuelle", "fr")]), 10).as_dict()
    {'q': {'lib-2': 0.20000000298023224, 'lib-6': 0.0714285746216774}}
    """

    scorer: SentenceScorer
    depth: int = DEPTH
    a: float = 0.5
    weights: tuple[float, ...] = THIRDS  # of the best sentence, the second best …
    document: DocumentScore = DocumentScore.MIN_MAX
    name: str = field(default="birch", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse invalid parameters of equation 9."""
        super().__post_init__()
        check_birch(self.a, self.weights)

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The retrievers that score sentences, if any."""
        return self.scorer.members

    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with its first documents reranked by equation 9."""
        return reorder(run, self.name, self.evidence(queries, run, depth).scores(self.a, self.weights), depth)

    def evidence(self, queries: Queries, run: Run, depth: int, sentences: int | None = None) -> SentenceEvidence:
        """S_doc and the best sentence scores of the first documents of a run: independent of `a` and the weights."""
        pairs, count = first_documents(run, depth), sentences or len(self.weights)
        document, best = np.empty(len(pairs)), np.zeros((len(pairs), count))
        for row, name in enumerate(pairs.queries):
            span = slice(int(pairs.offsets[row]), int(pairs.offsets[row + 1]))
            document[span] = self.document.of(pairs.score[span].astype(np.float64))
            docs = [pairs.docs[at] for at in pairs.doc[span].tolist()]
            for place, scores in enumerate(self.scorer.scores(queries.query(name), docs) if docs else [], start=span.start):
                found = np.sort(scores.astype(np.float64))[::-1][:count]
                best[place, : len(found)] = found
                if not len(found):
                    best[place] = np.nan
        return SentenceEvidence(document, best)

    def best_sentences(self, query: Query, doc: str) -> list[BestSentence]:
        """The best sentences of a document for a query, in descending order; of equals the first in the text."""
        scores = self.scorer.scores(query, [doc])[0]
        order = np.argsort(-scores, kind="stable")[: len(self.weights)].tolist()
        places = self.scorer.sentences(doc)
        return [BestSentence(places[at], float(scores[at]), weight) for at, weight in zip(order, self.weights, strict=False)]


def check_birch(a: float, weights: Sequence[float]) -> None:
    """Refuse invalid parameters of equation 9.

    >>> check_birch(1.5, (1.0,))
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a, the share of the document's own score, must lie between 0 and 1, got 1.5
    """
    if not 0 <= a <= 1:
        raise ConfigError(f"a, the share of the document's own score, must lie between 0 and 1, got {a}")
    if not weights or not all(0 <= weight < float("inf") for weight in weights):
        raise ConfigError(f"weights of sentences must be one or more numbers of 0 or more, got {list(weights)}")
