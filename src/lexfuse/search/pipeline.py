"""Search pipelines: several retrievers fused, other ones for other queries, and ``>>`` for reranking.

``FusedRetriever([bm25, dense], Convex((0.4, 0.6))) >> Rescore(colbert, depth=100)`` reads as it works, and is a retriever like
its parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lexfuse.channels.explanation import Explanation
from lexfuse.channels.query_context import query_context
from lexfuse.channels.retriever import Mask, Retriever, ScoreBounds, checked_k, lookup_scores, pairs_of
from lexfuse.data.arrays import F32, I64, offsets_of
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run, join_runs
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Union
from lexfuse.search.candidates import retrieve_union
from lexfuse.search.explanation import explain_fusion, with_document
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.query_class import QueryClass, query_class

DEPTH = 1000


@dataclass(frozen=True)
class FusedRetriever(Retriever):
    """Retrievers of one snapshot, fused; itself a retriever.

    Each gives its best `depth` documents, whatever k is, so that scores do not depend on how many results are wanted. Then
    every retriever is asked for the true scores of what only others found (unless the fusion says otherwise).

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> from lexfuse.channels.lexical.tfidf import TfIdf
    >>> hybrid = FusedRetriever([BM25(snapshot), TfIdf(snapshot)])
    >>> [hit.doc for hit in hybrid.retrieve(Queries.of([Query("q", "une cotisation ?", "fr")]), 10).hits("q")]
    ['lib-6', 'lib-2']
    """

    retrievers: Sequence[Retriever]
    fusion: Fusion = field(default_factory=TM2C2)
    depth: int = DEPTH
    name: str = field(default="hybrid", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse retrievers that do not belong together."""
        if not self.retrievers:
            raise ConfigError("a hybrid needs at least one retriever")
        if any(retriever.snapshot is not self.retrievers[0].snapshot for retriever in self.retrievers):
            raise ConfigError("the retrievers of a hybrid must search the same snapshot of one index")
        names = [retriever.name for retriever in self.retrievers]
        if len(set(names)) < len(names):
            raise ConfigError(f"the retrievers of a hybrid need different names, got {', '.join(names)}")
        checked_k(self.depth)

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""
        return self.retrievers[0].snapshot

    @property
    def bounds(self) -> ScoreBounds:
        """None that hold for every fusion."""
        return ScoreBounds(-math.inf)

    def union(self, queries: Queries, *, within: Mask | None = None) -> Union:
        """The candidates of every query with what each retriever says about them, all asked at the same time."""
        return retrieve_union(self.retrievers, queries, self.depth, within=within, missing=self.fusion.missing)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        union = self.union(queries, within=within)
        return self.fusion.fused(union, checked_k(k), self.name)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The fused score of every pair in a run; a document that no source lists gets the score it would have."""
        asked = queries.select([queries.ids.ordinal(id) for id in pairs.queries])
        with query_context():
            union = self.union(asked)
            scores = lookup_scores(self.fusion.fused(union, max(len(union), 1)), pairs)
            for row, query in enumerate(asked):
                span = slice(int(pairs.offsets[row]), int(pairs.offsets[row + 1]))
                guests = span.start + np.flatnonzero(np.isnan(scores[span]))
                docs = [pairs.docs[at] for at in pairs.doc[guests].tolist()]
                scores[guests] = [found.score for found in self._explained(union.of_query(row), query, docs)]
        return scores

    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The retrievers of channels that answer a query."""
        return tuple(member for retriever in self.retrievers for member in retriever.members(query))

    def mapped(self, change: Callable[[Retriever], Retriever]) -> Retriever:
        """The same retriever with each of its channels' retrievers changed."""
        return replace(self, retrievers=[one.mapped(change) for one in self.retrievers])

    def stages(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
    ) -> list[Explanation]:
        """Why documents of the index have their ranks, or would have them; with their ranks under other fusions."""
        with query_context():
            return self._explained(self.union(Queries.of([query]), within=within), query, docs, others)

    def _explained(self, union: Union, query: Query, docs: Sequence[str], others: Sequence[Fusion] = ()) -> list[Explanation]:
        """The same for the union set of the query; each document is looked at alone, as if no other were asked for."""
        if not docs:
            return []
        queries, pairs = Queries.of([query]), pairs_of(self, query, docs)
        scores = np.stack([retriever.score(queries, pairs) for retriever in self.retrievers], axis=1).tolist()
        return [
            explain_fusion(with_document(union, doc, known), doc, self.fusion, others)
            for doc, known in zip(docs, scores, strict=True)
        ]


@dataclass(frozen=True)
class RoutedRetriever(Retriever):
    """Another retriever for queries of some classes (`lexfuse.text.query_class`); itself a retriever.

    >>> from lexfuse.channels.citation import CitationLookup
    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> routed = RoutedRetriever(BM25(snapshot), {QueryClass.CITATION: CitationLookup(snapshot)})
    >>> queries = Queries.of([Query("q", "article L. 2", "fr"), Query("p", "quels sont les horaires ?", "fr")])
    >>> {query: list(hits) for query, hits in routed.retrieve(queries, 10).as_dict().items()}
    {'q': ['lib-2'], 'p': ['lib-5']}
    """

    general: Retriever  # for queries of all other classes
    routes: Mapping[QueryClass, Retriever]
    name: str = field(default="routed", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse retrievers that do not belong together."""
        if any(route.snapshot is not self.snapshot for route in self.routes.values()):
            raise ConfigError("the retrievers of all classes of queries must search the same snapshot of one index")

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""
        return self.general.snapshot

    @property
    def bounds(self) -> ScoreBounds:
        """Those that hold for all of its retrievers."""
        every = [one.bounds for one in (self.general, *self.routes.values())]
        return ScoreBounds(min(one.low for one in every), max(one.high for one in every))

    def route(self, text: str) -> Retriever:
        """The retriever that answers a query."""
        return self.routes.get(query_class(text), self.general)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        groups = self._groups(queries) or [(np.empty(0, dtype=np.int64), self.general)]
        runs = [one.retrieve(queries.select(rows.tolist()), checked_k(k), within=within) for rows, one in groups]
        return join_runs(self.name, queries, [rows for rows, _ in groups], runs)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair in a run, by the retriever of the query."""
        scores = np.full(len(pairs), np.nan, dtype=np.float32)
        asked = queries.select([queries.ids.ordinal(id) for id in pairs.queries])
        row_of = np.repeat(np.arange(len(asked)), np.diff(pairs.offsets))
        for rows, retriever in self._groups(asked):
            chosen = np.isin(row_of, rows)
            offsets = offsets_of(np.diff(pairs.offsets)[rows])
            some = Run(
                "pairs", Ids(asked.ids[int(at)] for at in rows), pairs.docs, offsets, pairs.doc[chosen], pairs.score[chosen]
            )
            scores[chosen] = retriever.score(asked.select(rows.tolist()), some)
        return scores

    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The retrievers of channels that answer a query."""
        return self.route(query.text).members(query)

    def mapped(self, change: Callable[[Retriever], Retriever]) -> Retriever:
        """The same retriever with each of its channels' retrievers changed."""
        routes = {name: route.mapped(change) for name, route in self.routes.items()}
        return replace(self, general=self.general.mapped(change), routes=routes)

    def rerankings(self, query: Query) -> tuple[tuple[Retriever, Any], ...]:
        """The rerankers of a query, last first, each with the retriever whose documents it reranks."""
        return self.route(query.text).rerankings(query)

    def stages(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
    ) -> list[Explanation]:
        """Why documents have their ranks, by the retriever of the query."""
        return self.route(query.text).stages(query, docs, within=within, others=others)

    def _groups(self, queries: Queries) -> list[tuple[I64, Retriever]]:
        """The queries of every retriever, by position."""
        routes = [self.route(text) for text in queries.text]
        every = {id(one): one for one in routes}
        return [(np.flatnonzero([route is one for route in routes]), one) for one in every.values()]


def fuse_retrievers(
    retrievers: Sequence[Retriever],
    fusion: Fusion | None = None,
    depth: int = DEPTH,
    *,
    lexical: Collection[str] = (),
    name: str | None = None,
) -> Retriever:
    """A retriever alone, or a hybrid of several by a fusion, TM2C2 if none is given.

    For TM2C2 the retrievers that are named as lexical come first.

    >>> fuse_retrievers([])
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a hybrid needs at least one retriever
    """
    if len(retrievers) == 1:
        return retrievers[0]
    if fusion is None or isinstance(fusion, TM2C2):
        retrievers = sorted(retrievers, key=lambda one: one.name not in lexical)
        fusion = replace(fusion or TM2C2(), lexical=sum(one.name in lexical for one in retrievers))
    return FusedRetriever(retrievers, fusion, depth, name=name or "+".join(one.name for one in retrievers))
