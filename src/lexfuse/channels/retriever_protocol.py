"""What every retriever is: a name, bounds of its scores, a ranking, and exact scores of given pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from lexfuse.channels.explanation import Evidence, Explanation
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


class Retriever(Protocol):
    """The shape of a retriever."""

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""

    @property
    def name(self) -> str:
        """How the retriever is called in runs and explanations."""

    @property
    def bounds(self) -> ScoreBounds:
        """Infimum and supremum of its scores, whatever the query."""

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows; the run states the infimum of every query."""

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair of query and document in a run, in its order."""

    # The rest is given by `lexfuse.channels.base_retriever.BaseRetriever`.

    @property
    def composed(self) -> bool:
        """Whether it is made of other retrievers."""

    @property
    def marks_words(self) -> bool:
        """Whether its terms are words of the texts, to be marked in snippets."""

    @property
    def has_passages(self) -> bool:
        """Whether it compares passages, of which the nearest can be shown."""

    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The retrievers of channels that answer a query."""

    def mapped(self, change: Callable[[Retriever], Retriever]) -> Retriever:
        """The same retriever with each of its channels' retrievers changed."""

    def rerankings(self, query: Query) -> tuple[tuple[Retriever, Any], ...]:
        """The rerankers of a query, last first, each with the retriever whose documents it reranks."""

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """What it compares in each of the documents with a query."""

    def explain(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Any] = ()
    ) -> list[Explanation]:
        """Why documents have their ranks, or which they would have, with the evidence."""

    def stages(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Any] = ()
    ) -> list[Explanation]:
        """`explain` without the evidence."""


QUICK_SCORES = 1 << 18  # documents times queries: fewer are ranked by their words in about a millisecond


@runtime_checkable
class QuickRetriever(Protocol):
    """A retriever that knows when it answers sooner than another thread would have started.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> isinstance(BM25(snapshot), QuickRetriever), BM25(snapshot).is_quick(Queries.of([]))
    (True, True)
    """

    def is_quick(self, queries: Queries) -> bool:
        """Whether these queries are answered in about a millisecond."""


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
    >>> from lexfuse.data.queries import Query
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
