"""Reranking by a cross-encoder (monoBERT, FUSE eq. 13-14): a transformer reads the query and a document together.

``bm25 >> CrossEncoder(snapshot, encoder, depth=100)`` reranks. `CrossEncoderRetriever` turns it into a source for fusion, next to
the retrievers: FUSE and RPRS leave rerankers in fusion open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from lexfuse.channels.retriever import Mask, Retriever, ScoreBounds, checked_k, requested_pairs
from lexfuse.data.arrays import F32, I64
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.pair_encoder import PairEncoder, WindowAggregate
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import ConfigError
from lexfuse.rerank.reranker import DEPTH, Reranker, first_documents, reorder
from lexfuse.storage.snapshot import Snapshot

TEXTS = 256  # documents read from the index at once


class PairScorer(Protocol):
    """Scores texts for a query: `lexfuse.encode.pair_encoder.PairEncoder`, or an object with the same method."""

    def scores(
        self, query: str, texts: Sequence[str], aggregate: WindowAggregate = WindowAggregate.MAX, *, heads: Sequence[str] = ()
    ) -> F32:
        """The score of every text, between 0 and 1; ``heads`` gives the beginning of texts that are read in several windows."""


@dataclass(frozen=True)
class CrossEncoder(Reranker):
    """The first `depth` documents by the relevance of "title headings text" to the query, according to a model.

    A document beyond the model's window is read in passages, each with title and headings; the best one counts, the first, or
    their mean.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> class Short:  # a scorer that prefers short texts
    ...     def scores(self, query, texts, aggregate=None, *, heads=()):
    ...         return np.array([1 / len(text.split()) for text in texts], np.float32)
    >>> pipeline = BM25(snapshot) >> CrossEncoder(snapshot, Short())
    >>> [hit.doc for hit in pipeline.retrieve(Queries.of([Query("q", "bibliothèque", "fr")]), 3).hits("q")]
    ['lib-5', 'lib-6', 'lib-1']
    """

    snapshot: Snapshot
    encoder: PairScorer
    depth: int = DEPTH
    aggregate: WindowAggregate = WindowAggregate.MAX
    headings: bool = True  # whether each passage has the heading path, like the title
    name: str = field(default="cross-encoder", kw_only=True)

    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with its first documents reranked by the model's scores."""
        return reorder(run, self.name, self.score(queries, first_documents(run, depth)), depth)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair in a run, in its order."""
        query, doc = requested_pairs(queries, pairs, self.snapshot.ids)
        scores = np.empty(len(pairs), dtype=np.float32)
        for row in np.unique(query).tolist():
            places = np.flatnonzero(query == row)
            for start in range(0, len(places), TEXTS):
                some = places[start : start + TEXTS]
                scores[some] = self._scored(queries.text[row], [self.snapshot.ids[at] for at in doc[some].tolist()])
        return scores

    def window_lengths(self, query: str, docs: Sequence[str]) -> I64:
        """The tokens of every window that the model reads for these documents; needs a `PairEncoder`."""
        if not isinstance(self.encoder, PairEncoder):
            raise ConfigError(f"{type(self.encoder).__name__} has no windows; the lengths are those of a PairEncoder")
        texts, heads = self._texts(docs)
        return self.encoder.window_lengths(query, texts, self.aggregate, heads=heads)

    def _scored(self, query: str, docs: Sequence[str]) -> F32:
        texts, heads = self._texts(docs)
        return self.encoder.scores(query, texts, self.aggregate, heads=heads)

    def _texts(self, docs: Sequence[str]) -> tuple[list[str], list[str]]:
        """The texts of documents, and the beginning of each that all of its windows have."""
        documents = self.snapshot.documents(docs)
        texts = [whole_text(document, self.headings) for document in documents]
        return texts, [whole_text(replace(document, text=""), self.headings) for document in documents]


@dataclass(frozen=True)
class CrossEncoderRetriever(Retriever):
    """A cross-encoder as a source for fusion: it ranks the first documents of another retriever, and scores any document.

    ``FusedRetriever([bm25, dense, CrossEncoderRetriever(bm25, CrossEncoder(snapshot, encoder, depth=50))], depth=100)`` asks it
    for the scores of all documents that any of the three lists. Unlike a reranked retriever, it has bounds.
    """

    candidates: Retriever
    reader: CrossEncoder

    def __post_init__(self) -> None:
        """Refuse a retriever of another snapshot."""
        if self.reader.snapshot is not self.candidates.snapshot:
            raise ConfigError("a cross-encoder and the retriever of its candidates must search the same snapshot of one index")

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""
        return self.candidates.snapshot

    @property
    def name(self) -> str:
        """The name of the cross-encoder."""
        return self.reader.name

    @property
    def bounds(self) -> ScoreBounds:
        """The bounds of the sigmoid."""
        return ScoreBounds(0.0, 1.0)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k of the candidates; their number is the depth of the cross-encoder, for any k."""
        run = self.candidates.retrieve(queries, self.reader.depth, within=within)
        ranked = first_documents(self.reader.rerank(queries, run, depth=self.reader.depth), checked_k(k))
        return replace(ranked, name=self.name, parts={}, low=self.bounds.lows(queries))

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair in a run, candidate or not."""
        return self.reader.score(queries, pairs)
