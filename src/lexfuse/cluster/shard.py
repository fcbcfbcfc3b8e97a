"""A shard: one ordinary index folder, opened with the statistics of all shards, that answers the requests of routers."""

from __future__ import annotations

import copy
import datetime
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.channels.lexical.expression_match import ExpressionMatcher
from lexfuse.cluster.statistics import ClusterPostings, Statistics, TermStatistics, have_days
from lexfuse.data.queries import Queries
from lexfuse.search.index_version import KEPT_DAYS
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot

Made = TypeVar("Made")
_given: ContextVar[Any] = ContextVar("queries as a router has read them")


class EncoderFacts(NamedTuple):
    """What a retriever needs to know of its encoder to search: the router encodes the queries."""

    dimension: int = 0
    normalises: bool = False


class RetrieverPlan(NamedTuple):
    """How a shard makes the retriever that a router has: its class, and its fields without the snapshot and the encoder."""

    kind: type[ChannelRetriever]
    fields: tuple[tuple[str, Hashable], ...]
    encoder: EncoderFacts | None = None

    def on(self, snapshot: Snapshot) -> ChannelRetriever:
        """The retriever on a snapshot."""
        fields = dict(self.fields) | ({} if self.encoder is None else {"encoder": self.encoder})
        return cast(ChannelRetriever, cast(Any, self.kind)(snapshot, **fields))


class GivenQueries:
    """A retriever whose queries were read elsewhere."""

    def read(self, queries: Queries) -> Any:
        """The queries as the router has read them."""
        return _given.get()


@contextmanager
def given_queries(encoded: Any) -> Iterator[None]:
    """Answer inside with queries that a router has read."""
    token = _given.set(encoded)
    try:
        yield
    finally:
        _given.reset(token)


_CLASSES: dict[tuple[type, type], type] = {}


def mixed_class(first: type, usual: type[Made], name: str) -> type[Made]:
    """The usual class with some methods of another before its own; the same one for the same two."""
    if issubclass(usual, first):  # as it is where one is made of another
        return usual
    made = type(f"{name}{usual.__name__}", (first, usual), {"__doc__": usual.__doc__})
    return cast("type[Made]", _CLASSES.setdefault((first, usual), made))


class ShardSnapshot(FolderSnapshot):
    """A snapshot of a shard whose terms have the statistics of all shards."""

    def __init__(self, folder: Path, statistics: Statistics) -> None:
        """Open the newest state; where documents of any shard have versions, this one shows those in force on a day."""
        self._statistics = statistics
        super().__init__(folder)

    def _is_dated(self) -> bool:
        return have_days(self._statistics)

    def _show(self, day: datetime.date) -> None:
        super()._show(day)
        self._of_day: dict[str, TermStatistics] = {}

    def _statistics_of(self, channel: str) -> TermStatistics:
        """The statistics of all shards on the day."""
        if channel not in self._of_day:
            self._of_day[channel] = self._statistics[channel].on(self.day)
        return self._of_day[channel]

    def _made_postings(self, channel: str, files: Sequence[InvertedFile], numbering: Numbering) -> Postings:
        return ClusterPostings(self._statistics_of(channel), files, numbering.bases, numbering.alive, self._files.lists(channel))

    @property
    def field_lengths(self) -> Mapping[str, float] | None:
        """The terms in each field of all documents of the cluster."""
        return self._statistics_of(LEXICAL).field_lengths

    def on(self, day: datetime.date) -> ShardSnapshot:
        """The same state on another day: also where the shard does not change, the statistics of all shards do."""
        if not self.has_history or day == self.day:
            return self
        other = copy.copy(self)
        other._show(day)
        return other

    def retriever_class(self, usual: type[Made]) -> type[Made]:
        """A class whose queries the router has read."""
        return mixed_class(GivenQueries, usual, "Shard") if issubclass(usual, ChannelRetriever) else usual


class ShardRequest(Protocol):
    """A question to one shard, made of plain values and arrays."""

    def answer(self, shard: Shard) -> Any:
        """What the shard says."""


class Shard:
    """An index folder as a part of a cluster; it answers many threads at a time.

    >>> from lexfuse.cluster.shard_requests import DocumentCount
    >>> from lexfuse.cluster.statistics import gather_statistics
    >>> Shard(snapshot.folder, gather_statistics([snapshot])).answer(DocumentCount())
    6
    """

    def __init__(self, folder: Path, statistics: Statistics) -> None:
        """Open the newest state of the folder."""
        self._begin(ShardSnapshot(folder, statistics))
        self._days: OrderedDict[datetime.date, Shard] = OrderedDict()  # the last used is the last

    def _begin(self, snapshot: ShardSnapshot) -> None:
        self.snapshot = snapshot
        self._lock = Lock()
        self._retrievers: dict[RetrieverPlan, ChannelRetriever] = {}
        self.expressions = ExpressionMatcher(snapshot)

    def on(self, day: datetime.date) -> Shard:
        """The shard on another day, where documents have versions; it closes with this one."""
        if not self.snapshot.has_history:
            return self
        with self._lock:
            if day not in self._days:
                other = copy.copy(self)
                other._begin(self.snapshot.on(day))
                self._days[day] = other
                if len(self._days) > KEPT_DAYS:
                    self._days.popitem(last=False)
            self._days.move_to_end(day)
            return self._days[day]

    def answer(self, request: ShardRequest) -> Any:
        """The answer to a request."""
        return request.answer(self)

    def retriever(self, plan: RetrieverPlan) -> ChannelRetriever:
        """The retriever of a plan, made once."""
        with self._lock:
            if plan not in self._retrievers:
                if len(self._retrievers) >= _KEPT:
                    self._retrievers.pop(next(iter(self._retrievers)))
                self._retrievers[plan] = plan.on(self.snapshot)
            return self._retrievers[plan]

    def close(self) -> None:
        """Close the files."""
        self.snapshot.close()


_KEPT = 64  # retrievers: a search may choose its own parameters
