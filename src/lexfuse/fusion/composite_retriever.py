"""What composite retrievers share: their members, and the explanation of a document's rank."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from lexfuse.channels.explanation import Explanation, SourceContribution
from lexfuse.channels.query_context import query_context
from lexfuse.channels.retriever_protocol import Mask, Retriever
from lexfuse.data.arrays import F32
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.fusion.fusion import Fusion


class CompositeRetriever(ABC):
    """A retriever made of others."""

    @abstractmethod
    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The channel retrievers of a query."""

    @abstractmethod
    def explanations(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
    ) -> list[Explanation]:
        """Explain the rank of documents, listed or not; with their ranks under other fusions."""

    def explain(self, query: Query, doc: str, *, within: Mask | None = None, others: Sequence[Fusion] = ()) -> Explanation:
        """The same for one document."""
        return self.explanations(query, [doc], within=within, others=others)[0]


def members_of(retriever: Retriever, query: Query) -> tuple[Retriever, ...]:
    """The channel retrievers of a query: the retriever itself, or its members.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> [one.name for one in members_of(BM25(snapshot), Query("q", "loi"))]
    ['bm25']
    """
    return retriever.members(query) if isinstance(retriever, CompositeRetriever) else (retriever,)


def explanations_of(
    retriever: Retriever, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
) -> list[Explanation]:
    """Explain the rank of documents, for any retriever; one without members explains only its score.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> found = explanations_of(BM25(snapshot), Query("q", "cotisation annuelle", "fr"), ["lib-2", "lib-1"])
    >>> [(one.doc, one.rank, one.listed, one.parts[0].source) for one in found]
    [('lib-2', 1, True, 'bm25'), ('lib-1', 3, False, 'bm25')]
    """
    if isinstance(retriever, CompositeRetriever):
        return retriever.explanations(query, docs, within=within, others=others)
    queries = Queries.of([query])
    with query_context():
        ranking = retriever.retrieve(queries, max(len(retriever.snapshot), 1), within=within)
        scores = retriever.score(queries, pairs_of(retriever, query, docs)).tolist()
    ranks = dict(zip(ranking.doc.tolist(), range(1, len(ranking) + 1), strict=True))
    found = []
    for doc, score in zip(docs, scores, strict=True):
        rank = ranks.get(retriever.snapshot.ids.ordinal(doc))
        known = not math.isnan(score)
        value = score if known else 0.0
        part = SourceContribution(retriever.name, score if known else None, rank, value, not known, 1.0, value)
        found.append(Explanation(query.id, doc, value, rank or len(ranks) + 1, rank is not None, (part,)))
    return found


def pairs_of(retriever: Retriever, query: Query, docs: Sequence[str]) -> Run:
    """One query with documents of the index, as a run whose pairs can be scored; `NotFoundError` for an unknown id."""
    ids = retriever.snapshot.ids
    ordinals = np.array([ids.ordinal(doc) for doc in docs], dtype=np.int32)
    offsets, scores = np.array([0, len(docs)]), np.zeros(len(docs), dtype=np.float32)
    return Run("pairs", Queries.of([query]).ids, ids, offsets, ordinals, scores)


def lookup_scores(run: Run, pairs: Run) -> F32:
    """The score in a run of every pair of another, in order; NaN if the run does not rank it.

    >>> lookup_scores(Run.of("x", {"q": {"a": 2.0}}), Run.of("y", {"q": {"b": 2.0, "a": 1.0}})).tolist()
    [nan, 2.0]
    """
    from lexfuse.channels.retriever_protocol import translated

    asked = np.repeat(np.arange(len(pairs.queries), dtype=np.int32), np.diff(pairs.offsets))
    query = translated(pairs.queries, asked, run.queries).astype(np.int64)
    doc = pairs.doc if pairs.docs is run.docs else run.docs.ordinals([pairs.docs[at] for at in pairs.doc.tolist()])
    keys = np.repeat(np.arange(len(run.queries)), np.diff(run.offsets)) * max(len(run.docs), 1) + run.doc
    wanted = np.where(doc >= 0, query * max(len(run.docs), 1) + doc, -1)
    by_key = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys, wanted, sorter=by_key), max(len(keys) - 1, 0))
    if not len(keys):
        return np.full(len(pairs), np.nan, dtype=np.float32)
    return np.where(keys[by_key[at]] == wanted, run.score[by_key[at]], np.nan).astype(np.float32)
