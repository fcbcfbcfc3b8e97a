"""What every retriever can be asked besides ranking: who answers a query, why, and what to show of a document."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from lexfuse.channels.explanation import Evidence, Explanation, SourceContribution
from lexfuse.channels.query_context import query_context
from lexfuse.channels.retriever_protocol import Mask, Retriever
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run


class BaseRetriever:
    """A retriever that answers alone; one that is made of others overrides what depends on them.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> bm25, query = BM25(snapshot), Query("q", "retard de prêt", "fr")
    >>> bm25.members(query) == (bm25,), [why.rank for why in bm25.explain(query, ["lib-4"])]
    (True, [1])
    """

    composed: ClassVar[bool] = False  # whether it is made of others
    marks_words: ClassVar[bool] = False  # whether its terms are words of the texts, to be marked in snippets
    has_passages: ClassVar[bool] = False  # whether it compares passages, of which the nearest can be shown

    def members(self: Retriever, query: Query) -> tuple[Retriever, ...]:
        """The retrievers of channels that answer a query."""
        return (self,)

    def mapped(self: Retriever, change: Callable[[Retriever], Retriever]) -> Retriever:
        """The same retriever with each of its channels' retrievers changed."""
        return change(self)

    def rerankings(self, query: Query) -> tuple[tuple[Retriever, Any], ...]:
        """The rerankers of a query, last first, each with the retriever whose documents it reranks."""
        return ()

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """What it compares in each of the documents with a query; they need not be ranked."""
        return [Evidence()] * len(docs)

    def explain(
        self: Retriever, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Any] = ()
    ) -> list[Explanation]:
        """Why documents have their ranks, or which they would have, with the evidence; `others` are fusions to rank by too."""
        with query_context():
            found = self.stages(query, docs, within=within, others=others)
            names = [(one.name, one.evidence(query, docs)) for one in self.members(query)]
        return [replace(one, evidence={name: every[at] for name, every in names}) for at, one in enumerate(found)]

    def stages(
        self: Retriever, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Any] = ()
    ) -> list[Explanation]:
        """`explain` without the evidence."""
        queries = Queries.of([query])
        with query_context():
            ranking = self.retrieve(queries, max(len(self.snapshot), 1), within=within)
            scores = self.score(queries, pairs_of(self, query, docs)).tolist()
        ranks = dict(zip(ranking.doc.tolist(), range(1, len(ranking) + 1), strict=True))
        found = []
        for doc, score in zip(docs, scores, strict=True):
            rank = ranks.get(self.snapshot.ids.ordinal(doc))
            known = not math.isnan(score)
            value = score if known else 0.0
            part = SourceContribution(self.name, score if known else None, rank, value, not known, 1.0, value)
            found.append(Explanation(query.id, doc, value, rank or len(ranks) + 1, rank is not None, (part,)))
        return found


def pairs_of(retriever: Retriever, query: Query, docs: Sequence[str]) -> Run:
    """One query with documents of the index, as a run whose pairs can be scored; `NotFoundError` for one that is not there.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> len(pairs_of(BM25(snapshot), Query("q", "loi"), ["lib-4"]))
    1
    """
    ids = retriever.snapshot.ids
    ordinals = np.array([ids.ordinal(doc) for doc in docs], dtype=np.int32)
    offsets, scores = np.array([0, len(docs)]), np.zeros(len(docs), dtype=np.float32)
    return Run("pairs", Queries.of([query]).ids, ids, offsets, ordinals, scores)
