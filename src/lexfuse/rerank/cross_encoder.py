"""Reranking by a cross-encoder (monoBERT, FUSE eq. 13-14): a transformer reads the query and a document together.

``bm25 >> CrossEncoder(snapshot, encoder, depth=100)`` reranks. `CrossEncoderRetriever` makes a source for fusion of it, beside
the retrievers: FUSE and RPRS leave rerankers in fusion open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from lexfuse.channels.retriever_protocol import Mask, Retriever, ScoreBounds, checked_k, requested_pairs
from lexfuse.data.arrays import F32
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.pair_encoder import WindowAggregate
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import ConfigError
from lexfuse.rerank.reranker import Reranker, first_documents, reorder
from lexfuse.rerank.rescore import DEPTH
from lexfuse.storage.snapshot import Snapshot

TEXTS = 256  # documents that are read from the index together


class PairScorer(Protocol):
    """What scores texts for a query: `lexfuse.encode.pair_encoder.PairEncoder`, or anything of its shape.

    >>> from lexfuse.encode.pair_encoder import PairEncoder
    >>> hasattr(PairEncoder, "scores")
    True
    """

    def scores(
        self, query: str, texts: Sequence[str], aggregate: WindowAggregate = WindowAggregate.MAX, *, heads: Sequence[str] = ()
    ) -> F32:
        """The score of every text, between 0 and 1; ``heads`` tell how each text begins, for those read in several windows."""


@dataclass(frozen=True)
class CrossEncoder(Reranker):
    """The first `depth` documents by how relevant a model finds "title headings text" for the query.

    A document beyond the model's window is read in passages, each with the title and the headings before it; the best one
    counts, the first, or their mean.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.data.queries import Query
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> class Short:  # a scorer that likes few words
    ...     def scores(self, query, texts, aggregate, *, heads):
    ...         return np.array([1 / len(text) for text in texts], np.float32)
    >>> documents = [Document("a", text="loi loi droit", language="fr"), Document("b", text="la loi", language="fr")]
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         pipeline = BM25(snapshot) >> CrossEncoder(snapshot, Short())
    ...         [hit.doc for hit in pipeline.retrieve(Queries.of([Query("q", "loi", "fr")]), 10).hits("q")]
    ['b', 'a']
    """

    snapshot: Snapshot
    encoder: PairScorer
    depth: int = DEPTH
    aggregate: WindowAggregate = WindowAggregate.MAX
    headings: bool = True  # whether the heading path is read with each passage, as the title is
    name: str = field(default="cross-encoder", kw_only=True)

    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with its first documents by the model's scores."""
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

    def _scored(self, query: str, docs: Sequence[str]) -> F32:
        documents = self.snapshot.documents(docs)
        texts = [whole_text(document, self.headings) for document in documents]
        heads = [whole_text(replace(document, text=""), self.headings) for document in documents]
        return self.encoder.scores(query, texts, self.aggregate, heads=heads)


@dataclass(frozen=True)
class CrossEncoderRetriever:
    """A cross-encoder as a source for fusion: it ranks the first documents of another retriever, and scores any.

    ``FusedRetriever([bm25, dense, CrossEncoderRetriever(bm25, CrossEncoder(snapshot, encoder, depth=50))], depth=100)`` asks it
    for the scores of all that any of the three lists.

    >>> from lexfuse.rerank.reranker import RerankedRetriever
    >>> RerankedRetriever.bounds is CrossEncoderRetriever.bounds  # unlike a reranked retriever, it has bounds
    False
    """

    candidates: Retriever
    reader: CrossEncoder

    def __post_init__(self) -> None:
        """Refuse what does not belong together."""
        if self.reader.snapshot is not self.candidates.snapshot:
            raise ConfigError("a cross-encoder and the retriever of its candidates must search the same snapshot of one index")

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""
        return self.candidates.snapshot

    @property
    def name(self) -> str:
        """That of the cross-encoder."""
        return self.reader.name

    @property
    def bounds(self) -> ScoreBounds:
        """Those of the sigmoid."""
        return ScoreBounds(0.0, 1.0)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k of the candidates, of which there are as many as the depth of the cross-encoder, whatever k is."""
        run = self.candidates.retrieve(queries, self.reader.depth, within=within)
        ranked = first_documents(self.reader.rerank(queries, run, depth=self.reader.depth), checked_k(k))
        return replace(ranked, name=self.name, parts={}, low=self.bounds.lows(queries))

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair in a run, candidate or not."""
        return self.reader.score(queries, pairs)
