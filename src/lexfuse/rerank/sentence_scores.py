"""How relevant the single sentences of documents are to a query, as Birch wants to know: by a cross-encoder or a bi-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Protocol

import numpy as np

from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.data.arrays import F32, F64
from lexfuse.data.queries import Query
from lexfuse.rerank.cross_encoder import PairScorer
from lexfuse.rerank.sentence_vectors import CandidateSentences, SentenceVectorReader
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.passages import Passage
from lexfuse.text.sentences.splitter import cut_long, split_sentences


class SentenceScorer(Protocol):
    """Scores of the sentences of documents.

    >>> all(hasattr(kind, "scores") and hasattr(kind, "sentences") for kind in (CrossEncoderSentences, DenseSentences))
    True
    """

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The retrievers of channels that it asks."""

    def scores(self, query: Query, docs: Sequence[str]) -> list[F32]:
        """The scores of every document's sentences, in the order in which they stand; none where it knows none."""

    def sentences(self, doc: str) -> list[Passage]:
        """Where the sentences that it scores stand in the text of a document."""


@dataclass(frozen=True)
class CrossEncoderSentences:
    """By a cross-encoder that reads each sentence beside the query; no score is known of a document without text.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> class Short:  # a scorer that likes few words
    ...     def scores(self, query, texts, aggregate=None, *, heads=()):
    ...         return np.array([1 / len(text.split()) for text in texts], np.float32)
    >>> documents = [Document("a", text="La loi. Le juge ne dit.", language="fr")]
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         CrossEncoderSentences(snapshot, Short()).scores(Query("q", "loi"), ["a"])[0].tolist()
    [0.5, 0.25]
    """

    snapshot: Snapshot
    encoder: PairScorer
    words: int = 0  # beyond which a sentence is cut, as RPRS does at 25; 0: none is

    @property
    def members(self) -> tuple[Retriever, ...]:
        """None: it reads the texts."""
        return ()

    def sentences(self, doc: str) -> list[Passage]:
        """The sentences of a document."""
        document = self.snapshot.document(doc)
        spans = split_sentences(document.text, document.language)
        cut = cut_long(spans, document.text, self.words) if self.words else spans
        return [Passage(span.start, span.end) for span in cut]

    def scores(self, query: Query, docs: Sequence[str]) -> list[F32]:
        """The scores of every document's sentences."""
        texts = [[one.of(self.snapshot.document(doc).text) for one in self.sentences(doc)] for doc in docs]
        every = self.encoder.scores(query.text, [text for some in texts for text in some])
        return np.split(every, list(accumulate(len(some) for some in texts))[:-1]) if texts else []


class SentenceMatch(StrEnum):
    """What a sentence has to be near to, where the query has several.

    >>> SentenceMatch("best")
    <SentenceMatch.BEST: 'best'>
    """

    BEST = "best"  # the sentence of the query that it is nearest to
    MEAN = "mean"  # all of them, on average


@dataclass(frozen=True)
class DenseSentences:
    """By a bi-encoder: the cosine of each passage of a dense channel made of sentences with the sentences of the query.

    >>> DenseSentences(open_retriever(snapshot, "sentences")).scores(Query("q", "loi"), ["a"])  # doctest: +SKIP
    [array([0.71, 0.12], dtype=float32)]
    """

    dense: DenseRetriever
    match: SentenceMatch = SentenceMatch.BEST

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The retriever of the channel."""
        return (self.dense,)

    @cached_property
    def reader(self) -> SentenceVectorReader:
        """Reads the sentences of queries, and finds those of documents."""
        return SentenceVectorReader(self.dense)

    def sentences(self, doc: str) -> list[Passage]:
        """The passages of a document in the channel."""
        return [Passage(start, end) for start, end in self._candidates([doc]).spans.tolist()]

    def scores(self, query: Query, docs: Sequence[str]) -> list[F32]:
        """The cosines of every document's passages; none for a query without words."""
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
        else:  # the product of matrices finds the nearest; its last bits depend on their shapes, so it does not score
            compared = asked[(rows @ asked.T.astype(np.float32)).argmax(axis=1)]
        cosines: F32 = np.einsum("ij,ij->i", rows, compared).astype(np.float32)
        return cosines
