"""What every retriever is: a name, bounds of its scores, a ranking, and exact scores of given pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lexfuse.data.arrays import F32, F64, Bools
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError

if TYPE_CHECKING:
    from lexfuse.index.snapshot import Snapshot

Mask = Bools  # one flag per document of the snapshot


@dataclass(frozen=True, slots=True)
class Bounds:
    """Infimum and supremum of a retriever's scores that hold for every query (BRUCH eq. 4).

    Where the infimum depends on the query, `low` is -inf here, and the runs of the retriever state it query by query
    (`Run.low`): minus the number of query tokens for MaxSim, minus the product of the norms for a dot product.

    >>> Bounds(0.0).high
    inf
    """

    low: float
    high: float = math.inf

    def lows(self, queries: Queries) -> F64:
        """The infimum of every query, as a run states it.

        >>> Bounds(-1.0, 1.0).lows(Queries.of([])).tolist()
        []
        """
        return np.full(len(queries), self.low)


class Retriever(Protocol):
    """The shape of a retriever.

    >>> from lexfuse.retrieve.bm25 import BM25
    >>> hasattr(BM25, "retrieve") and hasattr(BM25, "score")
    True
    """

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""

    @property
    def name(self) -> str:
        """How the retriever is called in runs and explanations."""

    @property
    def bounds(self) -> Bounds:
        """Infimum and supremum of its scores, whatever the query."""

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows; the run states the infimum of every query."""

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair of query and document in a run, in its order."""


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
