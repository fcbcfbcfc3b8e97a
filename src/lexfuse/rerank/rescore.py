"""Reranking by the exact scores of another retriever, such as BM25 >> ColBERT, which then scores few documents only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.channels.retriever import Retriever
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.rerank.reranker import Reranker, first_documents, reorder

DEPTH = 100


@dataclass(frozen=True)
class Rescore(Reranker):
    """The first `depth` documents by the scores of another retriever; documents that it does not have come last."""

    retriever: Retriever
    depth: int = DEPTH

    @property
    def name(self) -> str:
        """The retriever's name."""
        return self.retriever.name

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The retriever."""
        return (self.retriever,)

    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with its first documents reranked by the retriever's scores."""
        pairs = first_documents(run, depth)
        scores = self.retriever.score(queries, pairs) if len(pairs) else np.empty(0, dtype=np.float32)
        return reorder(run, self.name, scores, depth)
