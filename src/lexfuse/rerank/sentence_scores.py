"""Relevance of single sentences to a query, for Birch: by a cross-encoder or a bi-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Protocol

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.channels.retriever import Retriever
from lexfuse.data.arrays import F32, F64
from lexfuse.data.queries import Query
from lexfuse.rerank.cross_encoder import PairScorer
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
        document = self.snapshot.document(doc)
        spans = split_sentences(document.text, document.language)
        return cut_long(spans, document.text, self.words) if self.words else spans

    def scores(self, query: Query, docs: Sequence[str]) -> list[F32]:
        """The scores of every document's sentences."""
        texts = [[one.of(self.snapshot.document(doc).text) for one in self.sentences(doc)] for doc in docs]
        every = self.encoder.scores(query.text, [text for some in texts for text in some])
        return np.split(every, list(accumulate(len(some) for some in texts))[:-1]) if texts else []


class SentenceMatch(StrEnum):
    """How a sentence is compared with a query of several sentences."""

    BEST = "best"  # with the nearest query sentence
    MEAN = "mean"  # all of them, on average


@dataclass(frozen=True)
class DenseSentences:
    """By a bi-encoder: the cosine of each passage of a dense sentence channel with the query's sentences.

    >>> DenseSentences(open_retriever(snapshot, "sentences")).scores(Query("q", "loi"), ["a"])  # doctest: +SKIP
    [array([0.71, 0.12], dtype=float32)]
    """

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
