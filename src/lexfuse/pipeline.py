"""Search pipelines: several retrievers fused, other ones for other queries, and ``>>`` for reranking.

``Hybrid([bm25, dense], Convex((0.4, 0.6))) >> Rescore(colbert, depth=100)`` reads as it works, and is a retriever like its parts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lexfuse.data.arrays import F32, I64, offsets_of
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fuse.asking import union_from
from lexfuse.fuse.composite import Composite, explanations_of, looked_up, members_of, pairs_of
from lexfuse.fuse.explaining import Explanation, explained, with_guest
from lexfuse.fuse.fusion import Fusion
from lexfuse.fuse.scores import TM2C2
from lexfuse.fuse.union import Union
from lexfuse.index.channel import WORDS, ChannelKind
from lexfuse.index.snapshot import Snapshot
from lexfuse.rerank.reranker import Reranked
from lexfuse.retrieve.informative import InformativeBM25
from lexfuse.retrieve.joining import joined_runs
from lexfuse.retrieve.opening import open_retriever
from lexfuse.retrieve.retriever import Bounds, Mask, Retriever, checked_k
from lexfuse.text.kli import TermChoice
from lexfuse.text.queryclass import QueryClass, query_class

DEPTH = 1000
SENTENCES = "sentences"  # the channel that whole judgments are compared by
SIMILAR_DEPTH = 100  # documents that are compared sentence by sentence with a whole judgment


@dataclass(frozen=True)
class Hybrid(Composite):
    """Retrievers of one snapshot, fused; itself a retriever.

    Each gives its best `depth` documents, whatever k is, so that scores do not depend on how many results are wanted. Then
    every retriever is asked for the true scores of what only others found (unless the fusion says otherwise).

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.index.index import Index
    >>> from lexfuse.retrieve.bm25 import BM25
    >>> from lexfuse.retrieve.tfidf import TfIdf
    >>> documents = [Document("a", text="la loi", language="fr"), Document("b", text="le droit", language="fr")]
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         hybrid = Hybrid([BM25(snapshot), TfIdf(snapshot)])
    ...         hybrid.retrieve(Queries.of([Query("q", "quelle loi ?", "fr")]), 10).as_dict()
    {'q': {'a': 1.0}}
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
            raise ConfigError(f"the retrievers of a hybrid need names of their own, got {', '.join(names)}")
        checked_k(self.depth)

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""
        return self.retrievers[0].snapshot

    @property
    def bounds(self) -> Bounds:
        """None that hold for every fusion."""
        return Bounds(-math.inf)

    def union(self, queries: Queries, *, within: Mask | None = None) -> Union:
        """The candidates of every query with what each retriever says about them, all asked at the same time."""
        return union_from(self.retrievers, queries, self.depth, within=within, missing=self.fusion.missing)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        union = self.union(queries, within=within)
        return self.fusion.fused(union, checked_k(k), self.name)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The fused score of every pair in a run; a document that nobody lists gets the score it would have."""
        asked = queries.select([queries.ids.ordinal(id) for id in pairs.queries])
        union = self.union(asked)
        scores = looked_up(self.fusion.fused(union, max(len(union), 1)), pairs)
        for row, query in enumerate(asked):
            span = slice(int(pairs.offsets[row]), int(pairs.offsets[row + 1]))
            guests = span.start + np.flatnonzero(np.isnan(scores[span]))
            docs = [pairs.docs[at] for at in pairs.doc[guests].tolist()]
            scores[guests] = [found.score for found in self._explained(union.of_query(row), query, docs)]
        return scores

    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The retrievers of channels that answer a query."""
        return tuple(member for retriever in self.retrievers for member in members_of(retriever, query))

    def explanations(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
    ) -> list[Explanation]:
        """Why documents of the index stand where they stand, or where they would; with their ranks under other fusions."""
        return self._explained(self.union(Queries.of([query]), within=within), query, docs, others)

    def _explained(self, union: Union, query: Query, docs: Sequence[str], others: Sequence[Fusion] = ()) -> list[Explanation]:
        """The same for the union set of the query; each document is looked at alone, as if no other were asked for."""
        if not docs:
            return []
        queries, pairs = Queries.of([query]), pairs_of(self, query, docs)
        scores = np.stack([retriever.score(queries, pairs) for retriever in self.retrievers], axis=1).tolist()
        return [
            explained(with_guest(union, doc, known), doc, self.fusion, others) for doc, known in zip(docs, scores, strict=True)
        ]


@dataclass(frozen=True)
class Routed(Composite):
    """Another retriever for queries of some classes (`lexfuse.text.queryclass`); itself a retriever.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.index.index import Index
    >>> from lexfuse.retrieve.bm25 import BM25
    >>> from lexfuse.retrieve.citation import CitationLookup
    >>> documents = [Document("a", text="l'article L. 2", language="fr"), Document("b", number="L2", language="fr")]
    >>> queries = Queries.of([Query("q", "article L. 2", "fr"), Query("p", "que dit cet article ?", "fr")])
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         routed = Routed(BM25(snapshot), {QueryClass.CITATION: CitationLookup(snapshot)})
    ...         {query: list(hits) for query, hits in routed.retrieve(queries, 10).as_dict().items()}
    {'q': ['b'], 'p': ['a']}
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
    def bounds(self) -> Bounds:
        """Those that hold for all of its retrievers."""
        every = [one.bounds for one in (self.general, *self.routes.values())]
        return Bounds(min(one.low for one in every), max(one.high for one in every))

    def route(self, text: str) -> Retriever:
        """The retriever that answers a query."""
        return self.routes.get(query_class(text), self.general)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        groups = self._groups(queries) or [(np.empty(0, dtype=np.int64), self.general)]
        runs = [one.retrieve(queries.select(rows.tolist()), checked_k(k), within=within) for rows, one in groups]
        return joined_runs(self.name, queries, [rows for rows, _ in groups], runs)

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
        return members_of(self.route(query.text), query)

    def explanations(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
    ) -> list[Explanation]:
        """Why documents stand where they stand, by the retriever of the query."""
        return explanations_of(self.route(query.text), query, docs, within=within, others=others)

    def _groups(self, queries: Queries) -> list[tuple[I64, Retriever]]:
        """The queries of every retriever, by where they stand."""
        routes = [self.route(text) for text in queries.text]
        every = {id(one): one for one in routes}
        return [(np.flatnonzero([route is one for route in routes]), one) for one in every.values()]


def open_pipeline(
    snapshot: Snapshot,
    channels: Sequence[str],
    fusion: Fusion | None = None,
    *,
    depth: int = DEPTH,
    k1: float = 1.2,
    b: float = 0.75,
    exact: bool = False,
    cosine: bool | None = None,
    terms: TermChoice | None = None,
    name: str | None = None,
) -> Retriever:
    """The retriever of a channel, or a hybrid of several by a fusion, TM2C2 if none is given.

    For TM2C2 the channels that match words count as lexical, and come first. A choice of terms is for bm25.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     open_pipeline(snapshot, ["bm25", "tfidf"]).name
    'bm25+tfidf'
    """
    wanted = list(dict.fromkeys(channels))
    if len(wanted) < 2:
        return open_retriever(snapshot, *wanted or ["bm25"], k1=k1, b=b, exact=exact, cosine=cosine, terms=terms, name=name)
    retrievers = [open_retriever(snapshot, channel, k1=k1, b=b, exact=exact, cosine=cosine, terms=terms) for channel in wanted]
    return fused(retrievers, fusion, depth, name=name)


def open_similar(snapshot: Snapshot, terms: TermChoice | None = None, *, k1: float = 2.8, b: float = 1.0) -> Retriever:
    """What finds documents like a whole judgment: BM25 on its most informative terms, and RPRS where there are sentences.

    The parameters are those that RPRS takes for judgments; the index has sentences if it has a dense channel of that name.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     open_similar(snapshot).name
    'bm25'
    """
    first = open_retriever(snapshot, "bm25", k1=k1, b=b, terms=terms or TermChoice())
    if SENTENCES not in snapshot.channels or snapshot.channel(SENTENCES).named.settings.kind is not ChannelKind.DENSE:
        return first
    from lexfuse.rerank.rprs import Rprs
    from lexfuse.retrieve.dense import Dense

    sentences = open_retriever(snapshot, SENTENCES)
    return first >> Rprs(sentences, depth=SIMILAR_DEPTH) if isinstance(sentences, Dense) else first


def with_terms(retriever: Retriever, terms: TermChoice) -> Retriever:
    """The same pipeline with another choice of terms, wherever in it the most informative terms of a query are asked for.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     with_terms(open_similar(snapshot), TermChoice(50)).choice.amount
    50
    """
    if isinstance(retriever, InformativeBM25):
        return replace(retriever, choice=terms)
    if isinstance(retriever, Hybrid):
        return replace(retriever, retrievers=[with_terms(one, terms) for one in retriever.retrievers])
    if isinstance(retriever, Routed):
        routes = {name: with_terms(route, terms) for name, route in retriever.routes.items()}
        return replace(retriever, general=with_terms(retriever.general, terms), routes=routes)
    if isinstance(retriever, Reranked):
        return replace(retriever, retriever=with_terms(retriever.retriever, terms))
    return retriever


def fused(
    retrievers: Sequence[Retriever], fusion: Fusion | None = None, depth: int = DEPTH, *, name: str | None = None
) -> Retriever:
    """A retriever alone, or a hybrid of several that are called as their channels; see `open_pipeline`.

    >>> fused([])
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a hybrid needs at least one retriever
    """
    if len(retrievers) == 1:
        return retrievers[0]
    if fusion is None or isinstance(fusion, TM2C2):
        retrievers = sorted(retrievers, key=lambda one: one.name not in WORDS)
        fusion = replace(fusion or TM2C2(), lexical=sum(one.name in WORDS for one in retrievers))
    return Hybrid(retrievers, fusion, depth, name=name or "+".join(one.name for one in retrievers))
