"""``retriever >> reranker``: the first documents of a ranking in a new order, the others after them in their old one.

A reranked ranking has one descending scale. What the reranker scored has its score. Then, each 1 less than the one before it,
come the documents that it could not score and those below its depth, so that a score depends neither on the number of results
that is asked for nor on what stands below.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lexfuse.channels.explanation import Explanation, SourceContribution
from lexfuse.channels.query_context import query_context
from lexfuse.channels.retriever_protocol import Mask, Retriever, ScoreBounds, checked_k
from lexfuse.data.arrays import F32, offsets_of
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.composite_retriever import CompositeRetriever, explanations_of, lookup_scores, members_of
from lexfuse.fusion.fusion import Fusion
from lexfuse.storage.snapshot import Snapshot


class Reranker(ABC):
    """Gives the first `depth` documents of rankings scores of its own; `retriever >> reranker` is a retriever.

    >>> from lexfuse.rerank.rescore import Rescore
    >>> issubclass(Rescore, Reranker)
    True
    """

    depth: int

    def __post_init__(self) -> None:
        """Refuse a depth that leaves nothing to rerank; called by those that are dataclasses."""
        check_depth(self.depth)

    @property
    @abstractmethod
    def name(self) -> str:
        """How it is called in runs and explanations."""

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The retrievers of channels that it asks; none where it reads the texts themselves."""
        return ()

    @abstractmethod
    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with its first `depth` documents of every query in a new order (see `reorder`)."""

    def __rrshift__(self, retriever: Retriever) -> RerankedRetriever:
        """``retriever >> reranker``."""
        return RerankedRetriever(retriever, self, name=f"{retriever.name}>>{self.name}")


@dataclass(frozen=True)
class RerankedRetriever(CompositeRetriever):
    """A retriever whose first documents are reranked; itself a retriever.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.rerank.rescore import Rescore
    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> from lexfuse.channels.lexical.tfidf import TfIdf
    >>> documents = [Document("a", text="la loi", language="fr"), Document("b", text="loi, droit, loi, juge", language="fr"),
    ...              Document("c", text="le juge", language="fr")]
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         pipeline = BM25(snapshot, b=1.0) >> Rescore(TfIdf(snapshot), depth=2)
    ...         [hit.doc for hit in pipeline.retrieve(Queries.of([Query("q", "loi", "fr")]), 10).hits("q")]
    ['b', 'a']
    """

    retriever: Retriever
    reranker: Reranker
    name: str = field(default="reranked", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what has nothing to rerank."""
        if isinstance(self.retriever, Reranker):
            raise ConfigError("a reranker stands after a retriever: write (retriever >> first) >> second")
        for member in self.reranker.members:
            if member.snapshot is not self.retriever.snapshot:
                raise ConfigError("a retriever and what reranks it must search the same snapshot of one index")

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""
        return self.retriever.snapshot

    @property
    def bounds(self) -> ScoreBounds:
        """None: what is not reranked goes down without end."""
        return ScoreBounds(-math.inf)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        run = self.retriever.retrieve(queries, max(checked_k(k), self.reranker.depth), within=within)
        return replace(first_documents(self.reranker.rerank(queries, run, depth=self.reranker.depth), k), name=self.name)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair in a run, as a ranking of all documents gives it; NaN for one that it does not list."""
        return lookup_scores(self.retrieve(queries, max(len(self.snapshot), 1)), pairs)

    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The retrievers of channels that answer a query, those that rerank first."""
        return (*self.reranker.members, *members_of(self.retriever, query))

    def explanations(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
    ) -> list[Explanation]:
        """The new score and rank of documents, and why they stood where they stood before."""
        queries = Queries.of([query])
        with query_context():
            before = explanations_of(self.retriever, query, docs, within=within, others=others)
            ranking = self.retrieve(queries, max(len(self.snapshot), 1), within=within)
        own = ranking.parts[self.reranker.name]
        places = {doc: place for place, doc in enumerate(ranking.doc.tolist())}
        found = []
        for doc, past in zip(docs, before, strict=True):
            at = places.get(self.snapshot.ids.ordinal(doc))
            if at is None:
                last = float(ranking.score[-1]) - 1.0 if len(ranking) else -1.0
                found.append(
                    Explanation(query.id, doc, last, len(ranking) + 1, False, (self._part(None, None, last),), before=past)
                )
                continue
            score = float(ranking.score[at])
            reranked = past.rank <= self.reranker.depth and not np.isnan(own[at])
            part = self._part(score if reranked else None, at + 1 if reranked else None, score)
            found.append(Explanation(query.id, doc, score, at + 1, past.listed, (part,), before=past))
        return found

    def _part(self, score: float | None, rank: int | None, value: float) -> SourceContribution:
        return SourceContribution(self.reranker.name, score, rank, value, score is None, 1.0, value)


def reorder(run: Run, name: str, scores: F32, depth: int) -> Run:
    """A run with new scores for its first `depth` documents of every query, given in their order; NaN for one without.

    The scores of the sources stay beside every document, and the new ones under the name of the reranker.

    >>> run = Run.of("bm25", {"q": {"a": 9.0, "b": 8.0, "c": 7.0, "d": 6.0}})
    >>> reorder(run, "colbert", np.array([0.5, np.nan, 0.75], np.float32), 3).as_dict()
    {'q': {'c': 0.75, 'a': 0.5, 'b': -0.5, 'd': -1.5}}
    """
    counts = np.diff(run.offsets)
    query = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(run)) - run.offsets[query]
    new = np.full(len(run), np.nan, dtype=np.float32)
    new[place < depth] = scores
    known = ~np.isnan(new)
    ordering = np.lexsort((run.docs.order[run.doc], np.where(known, -new.astype(np.float64), place), ~known, query))
    scored = np.bincount(query[known], minlength=len(counts))
    floor = np.full(len(counts), np.inf)
    np.minimum.at(floor, query[known], new[known])
    floor[scored == 0] = 0.0
    after = floor[query] - (place + 1 - scored[query])  # `place` as that of the new order
    old = run.parts or {run.name: run.score}
    parts = {**old, name: np.where(known, new, old[name]) if name in old else new}
    return Run(
        run.name,
        run.queries,
        run.docs,
        run.offsets,
        run.doc[ordering],
        np.where(known[ordering], new[ordering], after).astype(np.float32),
        {source: values[ordering] for source, values in parts.items()},
    )


def check_depth(depth: int) -> None:
    """Refuse a depth that leaves nothing to rerank.

    >>> check_depth(0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the depth of reranking must be at least 1, got 0
    """
    if depth < 1:
        raise ConfigError(f"the depth of reranking must be at least 1, got {depth}")


def first_documents(run: Run, k: int) -> Run:
    """The first k documents of every query.

    >>> first_documents(Run.of("x", {"q": {"a": 2.0, "b": 1.0}}), 1).as_dict()
    {'q': {'a': 2.0}}
    """
    counts = np.diff(run.offsets)
    kept = np.arange(len(run)) - np.repeat(run.offsets[:-1], counts) < k
    parts = {source: values[kept] for source, values in run.parts.items()}
    return replace(run, offsets=offsets_of(np.minimum(counts, k)), doc=run.doc[kept], score=run.score[kept], parts=parts)
