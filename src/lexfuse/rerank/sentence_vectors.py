"""The sentences of a query and its candidates as vectors, for RPRS, SDR and Birch.

Document sentences are in a dense channel of the index, one row each (``--channels sentences``). A query, even a whole judgment,
is split and encoded by the plan of that channel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.channels.query_context import read_once
from lexfuse.channels.query_terms import QueryLanguages
from lexfuse.channels.retriever import Retriever, requested_pairs
from lexfuse.data.arrays import F32, I32, I64, offsets_of
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Progress, Side, no_progress
from lexfuse.rerank.reranker import Reranker, first_documents, reorder
from lexfuse.text.passages import Passage


@dataclass(frozen=True, slots=True, eq=False)
class QuerySentences:
    """The sentences of one query; empty if it has no words."""

    spans: tuple[Passage, ...]
    vectors: F32  # of length one, a row each

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self.spans)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateSentences:
    """The sentences of the candidates of a query, candidate by candidate.

    >>> sentences = CandidateSentences.of([np.eye(2, dtype=np.float32), np.ones((1, 2), np.float32)])
    >>> sentences.starts.tolist(), sentences.owner.tolist(), len(sentences)
    ([0, 2, 3], [0, 0, 1], 2)
    """

    starts: I64  # of each candidate's sentences; none if the channel does not have it
    vectors: F32  # of length one, a row each
    spans: I32  # where each starts and ends in the text of its document
    order: I32  # of every candidate by its id, for ties

    @classmethod
    def of(cls, vectors: Sequence[F32], spans: Sequence[I32] | None = None, order: I32 | None = None) -> CandidateSentences:
        """Build from the sentence vectors of documents, which need not be normalised."""
        every = np.concatenate(vectors) if len(vectors) else np.empty((0, 1), dtype=np.float32)
        places = (
            np.zeros((len(every), 2), dtype=np.int32) if spans is None else np.concatenate([*spans, np.empty((0, 2), np.int32)])
        )
        ids = np.arange(len(vectors), dtype=np.int32) if order is None else order
        return cls(offsets_of(np.array([len(rows) for rows in vectors], dtype=np.int64)), unit_length(every), places, ids)

    def __len__(self) -> int:
        """The number of candidates."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> I64:
        """The number of sentences of every candidate."""
        return np.diff(self.starts)

    @property
    def owner(self) -> I32:
        """The candidate of every sentence."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths)


class SentenceVectorReader:
    """Splits queries into sentences, and finds those of documents in a channel of passages.

    >>> from lexfuse.channels.registry import fill_channel, plan_channel
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.channels.registry import open_retriever
    >>> documents = [Document("a", text="Le bail est nul. Le loyer est dû. Il y a appel.", language="fr")]
    >>> with IndexFolder.create(folder / "i", documents=documents) as index:
    ...     index.channels.make("sentences", plan_channel("sentences", language="fr"))
    ...     _ = fill_channel(index, "sentences")
    ...     with index.snapshot() as snapshot:
    ...         reader = SentenceVectorReader(open_retriever(snapshot, "sentences"))
    ...         len(reader.query(Query("q", "Le loyer. Le bail.", "fr"))), reader.candidates(np.array([0])).lengths.tolist()
    (2, [3])
    """

    def __init__(self, dense: PassageRetriever) -> None:
        """Keep the retriever of the channel."""
        self.dense = dense
        self._languages = QueryLanguages(dense.snapshot)

    def query(self, query: Query, *, progress: Progress = no_progress) -> QuerySentences:
        """The sentences of a query by the plan of the channel, encoded once inside a query context.

        A ranking and the reasons for it both need its sentences, and encoding those of a long judgment takes seconds.
        `progress` is called with how many are encoded.
        """
        asked = [(query.text, self._language(query))]
        (found,) = read_once(
            self.dense.snapshot,
            f"sentences of {self.dense.channel}",
            asked,
            lambda _: [self._encoded(self.divided(query), progress)],
        )
        return found

    def divided(self, query: Query) -> list[tuple[str, Passage]]:
        """The sentences of a query with their spans, not encoded; empty if it has no words."""
        if not query.text.strip():
            return []
        return self.dense.divided(Document(query.id, text=query.text, language=self._language(query)))

    def _language(self, query: Query) -> str:
        return self._languages.of(query.text, query.language)

    def _encoded(self, pieces: Sequence[tuple[str, Passage]], progress: Progress) -> QuerySentences:
        if not pieces:
            return QuerySentences((), np.empty((0, self.dense.encoder.dimension), dtype=np.float32))
        vectors = self.dense.encoder.encode([text for text, _ in pieces], Side.QUERY, progress=progress)
        return QuerySentences(tuple(passage for _, passage in pieces), unit_length(vectors))

    def candidates(self, docs: I32 | I64) -> CandidateSentences:
        """The sentences of documents, given by their numbers in the snapshot."""
        found = self.dense.passages_of(docs.tolist())
        starts = offsets_of(np.array([len(one.norms) for one in found], dtype=np.int64))
        vectors = np.empty((int(starts[-1]), self.dense.encoder.dimension), dtype=np.float32)
        spans = np.empty((len(vectors), 2), dtype=np.int32)
        for at, one in zip(starts.tolist(), found, strict=False):
            here, lengths = slice(at, at + len(one.norms)), one.norms[:, None]
            np.divide(one.vectors, np.where(lengths > 0, lengths, 1), out=vectors[here])
            spans[here] = one.spans
        return CandidateSentences(starts, vectors, spans, self.dense.snapshot.ids.order[docs].astype(np.int32))

    @cached_property
    def average_length(self) -> float:
        """Mean number of sentences over all documents of the channel."""
        counts = self.dense.passage_counts
        return float(counts.mean()) if len(counts) else 1.0


class SentenceReranker(Reranker):
    """A reranker that compares the sentences of a query with those of its candidates, which a dense channel holds."""

    sentences: PassageRetriever

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The channel of sentences."""
        return (self.sentences,)

    @cached_property
    def reader(self) -> SentenceVectorReader:
        """Reads the sentences of queries and documents."""
        return SentenceVectorReader(self.sentences)

    @abstractmethod
    def document_scores(self, query: Query, docs: I32) -> F32:
        """The scores of documents, given by their numbers; NaN for one that the channel does not have."""

    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with its first documents reranked; those that the channel does not have come last."""
        pairs = first_documents(run, depth)
        _, docs = requested_pairs(queries, pairs, self.sentences.snapshot.ids)
        own = [docs[int(first) : int(last)] for first, last in pairwise(pairs.offsets)]
        asked = zip(pairs.queries, own, strict=True)
        scores = [self.document_scores(queries.query(id), some) for id, some in asked if len(some)]
        return reorder(run, self.name, np.concatenate([np.empty(0, dtype=np.float32), *scores]), depth)


def unit_length(vectors: F32) -> F32:
    """Normalise rows, so that dot products are cosines; zero stays zero.

    >>> unit_length(np.array([[3, 4], [0, 0]], np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    lengths[lengths == 0] = 1.0
    units: F32 = vectors / lengths.astype(np.float32)[:, None]
    return units
