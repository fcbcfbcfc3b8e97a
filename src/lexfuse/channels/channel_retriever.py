"""What every retriever of a channel can do besides ranking: read queries apart, state its costs and its scores' parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from lexfuse.channels.retriever import Mask, Retriever, ScoreBounds
from lexfuse.data.arrays import F32
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.storage.snapshot import Snapshot

Parameter = str | float | bool


class SearchWork(NamedTuple):
    """What a channel holds, and the operations of a query on average, counted as in FUSE, appendix A.4."""

    vectors: int  # or postings of words and learned terms
    flops: int


class ChannelRetriever(Retriever):
    """A retriever of one channel; a `Retriever`."""

    snapshot: Snapshot
    name: str

    @property
    @abstractmethod
    def channel(self) -> str:
        """The channel that is searched."""

    @property
    @abstractmethod
    def bounds(self) -> ScoreBounds:
        """Infimum and supremum of its scores, whatever the query."""

    @abstractmethod
    def read(self, queries: Queries) -> Any:
        """The queries as they are searched: analysed or encoded."""

    @abstractmethod
    def rank(self, queries: Queries, encoded: Any, k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before."""

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows; the run states the infimum of every query."""
        return self.rank(queries, self.read(queries), k, within=within)

    @abstractmethod
    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair of query and document in a run, in its order."""

    @abstractmethod
    def work(self, queries: Queries) -> SearchWork:
        """What searching by these queries costs."""

    def prepare(self) -> None:
        """Make now what a process that has answered for a while has made."""

    @property
    def score_parameters(self) -> Mapping[str, Parameter] | None:
        """What the scores depend on besides the channel; None where the index keeps no distribution of them."""
        return {}

    @property
    def exhaustive(self) -> Self:
        """The same retriever without approximation, to see the lowest scores too."""
        return self

    def unlisted(self, within: Mask | None) -> int:
        """How many documents have a score of 0 for a query that lists none; none have where vectors are compared."""
        return 0
