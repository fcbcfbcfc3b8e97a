"""Hybrid search: several retrievers, asked at once, and one fusion of what they find."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from lexfuse.data.arrays import F32
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fuse.explaining import Explanation, explained, with_guest
from lexfuse.fuse.fusion import Fusion
from lexfuse.fuse.scores import TM2C2
from lexfuse.fuse.union import Missing, Union, union_of
from lexfuse.index.channel import TAKEN
from lexfuse.index.snapshot import Snapshot
from lexfuse.retrieve.opening import open_retriever
from lexfuse.retrieve.retriever import Bounds, Mask, Retriever, checked_k

DEPTH = 1000


@dataclass(frozen=True)
class Hybrid:
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

    def runs(self, queries: Queries, *, within: Mask | None = None) -> list[Run]:
        """What each retriever finds, all asked at the same time."""
        with ThreadPoolExecutor(len(self.retrievers)) as pool:
            return list(pool.map(lambda one: one.retrieve(queries, self.depth, within=within), self.retrievers))

    def union(self, queries: Queries, *, within: Mask | None = None) -> Union:
        """The candidates of every query with what each retriever says about them."""
        sources = self.retrievers if self.fusion.missing is Missing.RESCORE else None
        union = union_of(self.runs(queries, within=within), sources, queries)
        bounds = tuple(retriever.bounds for retriever in self.retrievers)
        return Union(
            union.names, union.queries, union.docs, union.offsets, union.doc, union.scores, union.places, bounds, union.asked
        )

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        union = self.union(queries, within=within)
        return union.ranked_by(self.name, self.fusion.scores(union), checked_k(k))

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The fused score of every pair in a run; a document that nobody lists gets the score it would have."""
        scores = np.empty(len(pairs), dtype=np.float32)
        for row, id in enumerate(pairs.queries):
            span = slice(int(pairs.offsets[row]), int(pairs.offsets[row + 1]))
            docs = [pairs.docs[at] for at in pairs.doc[span].tolist()]
            if docs:
                query = Queries.of([queries.query(id)])
                scores[span] = [self._explained(self.union(query), query, doc).score for doc in docs]
        return scores

    def explain(self, query: Query, doc: str, *, others: Sequence[Fusion] = ()) -> Explanation:
        """Why a document of the index stands where it stands, or where it would; with its rank under other fusions."""
        queries = Queries.of([query])
        return self._explained(self.union(queries), queries, doc, others)

    def _explained(self, union: Union, queries: Queries, doc: str, others: Sequence[Fusion] = ()) -> Explanation:
        ordinal = self.snapshot.ids.ordinal(doc)
        pair = Run(
            "guest", Ids([queries.ids[0]]), self.snapshot.ids, np.array([0, 1]), np.array([ordinal], dtype=np.int32),
            np.zeros(1, dtype=np.float32),
        )  # fmt: skip
        scores = [float(retriever.score(queries, pair)[0]) for retriever in self.retrievers]
        return explained(with_guest(union, doc, scores), doc, self.fusion, others)


def open_pipeline(
    snapshot: Snapshot,
    channels: Sequence[str],
    fusion: Fusion | None = None,
    *,
    depth: int = DEPTH,
    k1: float = 1.2,
    b: float = 0.75,
    exact: bool = False,
    cosine: bool = False,
    name: str | None = None,
) -> Retriever:
    """The retriever of a channel, or a hybrid of several by a fusion, TM2C2 if none is given.

    For TM2C2 the channels that match words count as lexical, and come first.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     open_pipeline(snapshot, ["bm25", "tfidf"]).name
    'bm25+tfidf'
    """
    wanted = list(dict.fromkeys(channels))
    if len(wanted) < 2:
        return open_retriever(snapshot, *wanted or ["bm25"], k1=k1, b=b, exact=exact, cosine=cosine, name=name)
    if fusion is None or isinstance(fusion, TM2C2):
        wanted.sort(key=lambda channel: channel not in TAKEN)
        fusion = replace(fusion or TM2C2(), lexical=sum(channel in TAKEN for channel in wanted))
    retrievers = [open_retriever(snapshot, channel, k1=k1, b=b, exact=exact, cosine=cosine) for channel in wanted]
    return Hybrid(retrievers, fusion, depth, name=name or "+".join(wanted))
