"""``retriever >> reranker``: the first documents of a ranking in a new order, the others after them in the old order.

A reranked ranking has one descending scale. Documents that the reranker scored have its score. Then follow, each 1 less than the
previous one, the documents that it could not score and those below its depth. So a score depends neither on the number of
requested results nor on lower documents.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lexfuse.channels.explanation import Evidence, Explanation, SourceContribution
from lexfuse.channels.query_context import query_context
from lexfuse.channels.retriever import Mask, Retriever, ScoreBounds, checked_k, lookup_scores
from lexfuse.data.arrays import F32, offsets_of
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.fusion import Fusion
from lexfuse.storage.snapshot import Snapshot


class Reranker(ABC):
    """Scores the first `depth` documents of rankings; `retriever >> reranker` is a retriever."""

    depth: int

    def __post_init__(self) -> None:
        """Refuse a depth below 1; called by subclasses that are dataclasses."""
        check_depth(self.depth)

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in runs and explanations."""

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The channel retrievers that it uses; none if it reads the texts."""
        return ()

    @abstractmethod
    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with the first `depth` documents of every query in a new order (see `reorder`)."""

    def evidence_of(self, query: Query, docs: Sequence[str], first: Retriever, *, within: Mask | None = None) -> list[Evidence]:
        """What it compares in each of the documents, if they are among those that it reranks; empty if it cannot be shown."""
        return []

    def __rrshift__(self, retriever: Retriever) -> RerankedRetriever:
        """``retriever >> reranker``."""
        return RerankedRetriever(retriever, self, name=f"{retriever.name}>>{self.name}")


@dataclass(frozen=True)
class RerankedRetriever(Retriever):
    """A retriever whose first documents are reranked; itself a retriever.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> from lexfuse.channels.lexical.tfidf import TfIdf
    >>> from lexfuse.rerank.reranker import Rescore
    >>> pipeline = BM25(snapshot) >> Rescore(TfIdf(snapshot), depth=2)
    >>> [hit.doc for hit in pipeline.retrieve(Queries.of([Query("q", "lecteurs bibliothèque", "fr")]), 3).hits("q")]
    ['lib-2', 'lib-3', 'lib-4']
    """

    retriever: Retriever
    reranker: Reranker
    name: str = field(default="reranked", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse a missing retriever, or one of another snapshot."""
        if isinstance(self.retriever, Reranker):
            raise ConfigError("a reranker follows a retriever: write (retriever >> first) >> second")
        for member in self.reranker.members:
            if member.snapshot is not self.retriever.snapshot:
                raise ConfigError("a retriever and what reranks it must search the same snapshot of one index")

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""
        return self.retriever.snapshot

    @property
    def bounds(self) -> ScoreBounds:
        """None: scores of documents that are not reranked have no lower bound."""
        return ScoreBounds(-math.inf)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        run = self.retriever.retrieve(queries, max(checked_k(k), self.reranker.depth), within=within)
        return replace(first_documents(self.reranker.rerank(queries, run, depth=self.reranker.depth), k), name=self.name)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair in a run, as in a ranking of all documents; NaN for unlisted documents."""
        return lookup_scores(self.retrieve(queries, max(len(self.snapshot), 1)), pairs)

    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The channel retrievers of a query, those of the reranker first."""
        return (*self.reranker.members, *self.retriever.members(query))

    def mapped(self, change: Callable[[Retriever], Retriever]) -> Retriever:
        """The same retriever with each of the retrievers that find its candidates changed."""
        return replace(self, retriever=self.retriever.mapped(change))

    def rerankings(self, query: Query) -> tuple[tuple[Retriever, Reranker], ...]:
        """The rerankers of a query, last first, each with the retriever whose documents it reranks."""
        return ((self.retriever, self.reranker), *self.retriever.rerankings(query))

    def stages(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
    ) -> list[Explanation]:
        """The new score and rank of documents, and the explanation of their previous rank."""
        queries = Queries.of([query])
        with query_context():
            before = self.retriever.stages(query, docs, within=within, others=others)
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
    """A run with new scores for the first `depth` documents of every query, given in order; NaN for no score.

    The scores of the sources are kept, and the new ones are added under the name of the reranker.

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
    after = floor[query] - (place + 1 - scored[query])  # `place` in the new order
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
    """Refuse a depth below 1."""
    if depth < 1:
        raise ConfigError(f"the depth of reranking must be at least 1, got {depth}")


def first_documents(run: Run, k: int) -> Run:
    """The first k documents of every query."""
    counts = np.diff(run.offsets)
    kept = np.arange(len(run)) - np.repeat(run.offsets[:-1], counts) < k
    parts = {source: values[kept] for source, values in run.parts.items()}
    return replace(run, offsets=offsets_of(np.minimum(counts, k)), doc=run.doc[kept], score=run.score[kept], parts=parts)


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
