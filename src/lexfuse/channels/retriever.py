"""What every retriever is: a name, bounds of its scores, a ranking, exact scores of given pairs, and an explanation."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from lexfuse.channels.explanation import Evidence, Explanation, SourceContribution
from lexfuse.channels.query_context import query_context
from lexfuse.data.arrays import F32, F64, I32, Bools
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError

if TYPE_CHECKING:
    from lexfuse.storage.snapshot import Snapshot


Mask = Bools  # one flag per document of the snapshot


@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """Infimum and supremum of a retriever's scores that hold for every query (BRUCH eq. 4).

    Where the infimum depends on the query, `low` is -inf here, and the runs of the retriever state it query by query
    (`Run.low`): minus the number of query tokens for MaxSim, minus the product of the norms for a dot product.
    """

    low: float
    high: float = math.inf

    def lows(self, queries: Queries) -> F64:
        """The infimum of every query, as a run states it."""
        return np.full(len(queries), self.low)


class QueryVector(NamedTuple):
    """The vector of a query, and the fingerprint of the model that made it."""

    model: str
    vector: F32


class Retriever(ABC):
    """Ranks the documents of a snapshot; one that is made of others overrides what depends on them.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> bm25, query = BM25(snapshot), Query("q", "retard de prêt", "fr")
    >>> bm25.members(query) == (bm25,), [why.rank for why in bm25.explain(query, ["lib-4"])]
    (True, [1])
    """

    marks_words: ClassVar[bool] = False  # whether its terms are words of the texts, to be marked in snippets
    shows_terms: ClassVar[bool] = False  # whether its evidence is always what each term adds to a score
    has_passages: ClassVar[bool] = False  # whether it compares passages, of which the nearest can be shown

    if TYPE_CHECKING:  # fields or properties of a subclass

        @property
        def snapshot(self) -> Snapshot:
            """The state of the index whose documents it ranks."""

        @property
        def name(self) -> str:
            """How the retriever is called in runs and explanations."""

    @property
    @abstractmethod
    def bounds(self) -> ScoreBounds:
        """Infimum and supremum of its scores, whatever the query."""

    @abstractmethod
    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows; the run states the infimum of every query."""

    @abstractmethod
    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair of query and document in a run, in its order."""

    def is_quick(self, queries: Queries) -> bool:
        """Whether these queries are answered in about a millisecond, sooner than another thread would have started."""
        return False

    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The retrievers of channels that answer a query."""
        return (self,)

    def query_vector(self, query: Query) -> QueryVector | None:
        """The vector that it compares with those of documents; None where a query is not one vector."""
        return None

    def mapped(self, change: Callable[[Retriever], Retriever]) -> Retriever:
        """The same retriever with each of its channels' retrievers changed."""
        return change(self)

    def rerankings(self, query: Query) -> tuple[tuple[Retriever, Any], ...]:
        """The rerankers of a query, last first, each with the retriever whose documents it reranks."""
        return ()

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """What it compares in each of the documents with a query; they need not be ranked."""
        return [Evidence()] * len(docs)

    def rerank_evidence(self, query: Query, docs: Sequence[str], *, within: Mask | None = None) -> dict[str, list[Evidence]]:
        """What rerankers compare in each of the documents, by their names; of two with one name, the last."""
        found: dict[str, list[Evidence]] = {}
        for first, reranker in self.rerankings(query):
            evidence = [] if reranker.name in found else reranker.evidence_of(query, docs, first, within=within)
            found |= {reranker.name: evidence} if evidence else {}
        return found

    def explain(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Any] = ()
    ) -> list[Explanation]:
        """Why documents have their ranks, or which they would have, with the evidence; `others` are fusions to rank by too."""
        with query_context():
            found = self.stages(query, docs, within=within, others=others)
            every = {one.name: one.evidence(query, docs) for one in self.members(query)}
            every |= self.rerank_evidence(query, docs, within=within)
        return [replace(one, evidence={name: some[at] for name, some in every.items()}) for at, one in enumerate(found)]

    def stages(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Any] = ()
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


def checked_k(k: int) -> int:
    """The number of results if it makes sense.

    >>> checked_k(0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: k must be at least 1, got 0
    """
    if k < 1:
        raise ConfigError(f"k must be at least 1, got {k}")
    return k


def requested_pairs(queries: Queries, pairs: Run, docs: Ids) -> tuple[I32, I32]:
    """For every pair in a run the number of its query among these queries, and of its document among these documents.

    >>> from lexfuse.data.ids import Ids
    >>> queries = Queries.of([Query("q1", "…"), Query("q2", "…")])
    >>> [array.tolist() for array in requested_pairs(queries, Run.of("x", {"q2": {"b": 1.0}}), Ids(["a", "b"]))]
    [[1], [1]]
    """
    row = np.repeat(np.arange(len(pairs.queries), dtype=np.int32), np.diff(pairs.offsets))
    return translated(pairs.queries, row, queries.ids), translated(pairs.docs, pairs.doc, docs)


def translated(names: Ids, used: I32, into: Ids) -> I32:
    """Ordinals of names as ordinals of the same names in another list; `NotFoundError` for one that is not there.

    >>> translated(Ids("abc"), np.array([2, 0], np.int32), Ids("ca")).tolist()
    [0, 1]
    """
    if names is into:
        return used
    distinct, place = np.unique(used, return_inverse=True)
    return np.array([into.ordinal(names[at]) for at in distinct.tolist()], dtype=np.int32)[place]


def lookup_scores(run: Run, pairs: Run) -> F32:
    """The score in a run of every pair of another, in order; NaN if the run does not rank it.

    >>> lookup_scores(Run.of("x", {"q": {"a": 2.0}}), Run.of("y", {"q": {"b": 2.0, "a": 1.0}})).tolist()
    [nan, 2.0]
    """
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


def held_scores(raw: I32, score: Callable[[Bools], F32]) -> F32:
    """The scores of pairs whose documents a channel holds (raw number 0 or more), NaN for the others.

    >>> held_scores(np.array([3, -1], np.int32), lambda held: np.full(int(held.sum()), 0.5, np.float32)).tolist()
    [0.5, nan]
    """
    held = raw >= 0
    scores = np.full(len(raw), np.nan, dtype=np.float32)
    if held.any():
        scores[held] = score(held)
    return scores
