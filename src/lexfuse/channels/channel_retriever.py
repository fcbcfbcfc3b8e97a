"""What every retriever of a channel offers besides ranking: reading queries, its costs, and the parameters of its scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.arrays import F32, I32, I64
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Encoder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.passages import Passage

Parameter = str | float | bool


class SearchWork(NamedTuple):
    """What a channel holds, and the operations of a query on average, counted as in FUSE, appendix A.4."""

    vectors: int  # or postings of words and learned terms
    flops: int


class ChannelRetriever(Retriever):
    """A retriever of one channel; its snapshot may name another class to search by (`Snapshot.retriever_class`)."""

    at_router: ClassVar[bool] = False  # whether it needs no more of an index than the router of a cluster has: ids and documents
    router_fields: ClassVar[tuple[str, ...]] = ()  # fields that only `read` needs, which shards do not get

    def __new__(cls, snapshot: Snapshot, *fields: Any, **named: Any) -> Self:
        """An object of the class that searches the snapshot."""
        return super().__new__(snapshot.retriever_class(cls))

    @property
    @abstractmethod
    def channel(self) -> str:
        """The channel that is searched."""

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
    def work(self, queries: Queries) -> SearchWork:
        """What searching by these queries costs."""

    def prepare(self) -> None:
        """Make now what a process that has answered for a while has made."""

    @property
    def score_parameters(self) -> Mapping[str, Parameter] | None:
        """The parameters that the scores depend on; None where the index keeps no distribution of the scores."""
        return {}

    @property
    def exhaustive(self) -> Self:
        """The same retriever without approximation, to see the lowest scores too."""
        return self

    def unlisted(self, within: Mask | None) -> int:
        """How many documents have a score of 0 for a query that lists none; none have where vectors are compared."""
        return 0


class PassageVectors(NamedTuple):
    """The passages of one document, a row each; none where the channel does not hold it."""

    vectors: F32
    norms: F32
    spans: I32  # start and end in the document's text


class PassageRetriever(ChannelRetriever):
    """A retriever of a channel with a vector for each passage: what rerankers compare sentence by sentence."""

    has_passages: ClassVar[bool] = True

    if TYPE_CHECKING:  # a field of a subclass

        @property
        def encoder(self) -> Encoder:
            """What encodes queries."""

    @abstractmethod
    def divided(self, query: Document) -> list[tuple[str, Passage]]:
        """The pieces of a query that is as long as a document, as the channel divides documents: texts to encode, and places."""

    @abstractmethod
    def passages_of(self, docs: Sequence[int]) -> list[PassageVectors]:
        """The passages of documents, given by their numbers in the snapshot."""

    @property
    @abstractmethod
    def passage_counts(self) -> I64:
        """How many passages each document of the channel has."""
