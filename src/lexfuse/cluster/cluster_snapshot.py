"""The documents and channels of all shards as one snapshot, at a router: it holds ids and metadata, and asks shards for the rest.

Documents are numbered in the order of their ids, whichever shard owns them.
"""

from __future__ import annotations

import copy
import datetime
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.channels.lexical.expression_match import ExpressionMatcher
from lexfuse.cluster.cluster_expressions import ClusterExpressionMatcher
from lexfuse.cluster.cluster_retriever import spread_by
from lexfuse.cluster.cluster_words import ClusterWords
from lexfuse.cluster.day_request import DayClient
from lexfuse.cluster.shard import ShardRequest, mixed_class
from lexfuse.cluster.shard_client import ShardClient
from lexfuse.cluster.shard_requests import (
    AllVersions,
    CodedColumn,
    Facts,
    FirstKnownDay,
    HeldDocuments,
    HeldVersions,
    KnownPeriods,
    ShardFacts,
    WholeDocuments,
)
from lexfuse.cluster.statistics import ClusterPostings, Statistics, have_days
from lexfuse.data.arrays import I32, I64, Bools
from lexfuse.data.document import Document
from lexfuse.data.ids import Ids
from lexfuse.errors import DataError, UnknownChannelError, UnknownDocumentError
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.history.day_coverage import DayCoverage
from lexfuse.storage.history.period_counts import PeriodCounts
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.written_words import WrittenWords
from lexfuse.storage.snapshot import ChannelState, Snapshot

Made = TypeVar("Made")


class ClusterSnapshot(Snapshot):
    """One state of a cluster; retrievers on it ask the shards. Where documents have versions, it shows those of a day."""

    change_command = "lexfuse cluster index URI"

    def __init__(
        self,
        client: ShardClient,
        statistics: Statistics,
        *,
        name: str = "cluster",
        generation: int = 0,
        distributions: Mapping[str, Any] | None = None,
    ) -> None:
        """Ask every shard what it holds; shards that do not belong together are a `DataError`."""
        self._client = self.client = client
        self.place = name
        self.generation = generation
        self._distributions = dict(distributions or {})
        self._statistics = statistics
        self._periods: PeriodCounts | None = None
        if have_days(statistics):
            self._periods = PeriodCounts.merged(list(self.all_shards(lambda _: KnownPeriods()).values()))
        self._show(datetime.date.today())
        self.settings = self._facts[0].settings
        self._channels = {named.name: ChannelState(named, []) for named in self._facts[0].channels}
        for shard, facts in enumerate(self._facts):
            if facts.alike != self._facts[0].alike:
                raise DataError(f"shard {shard} has other settings or channels than shard 0; build the shards of a cluster alike")

    def _show(self, day: datetime.date) -> None:
        """Ask every shard what it holds on a day, and forget what was derived from another one."""
        for name in ("ids", "documents_of", "places", "numbering", "bases", "_derived", "written_words"):
            self.__dict__.pop(name, None)
        if self._periods is not None:
            self.day = day
            self.client = DayClient(self._client, self._periods.first_day(day))  # so that shards keep few days
        self._facts: list[ShardFacts] = list(self.all_shards(lambda _: Facts()).values())
        self._postings: dict[str, Postings] = {}
        self._numberings: dict[str, Numbering] = {}
        self._coded: dict[str, tuple[I32, list[Any]]] = {}

    # Days

    @property
    def has_history(self) -> bool:  # type: ignore[override]
        """Whether documents have versions, of which it shows those in force on its day."""
        return self._periods is not None

    def epoch(self, day: datetime.date) -> int:
        """A number that two days share if the same versions are in force on both."""
        return 0 if self._periods is None else self._periods.epoch(day)

    def on(self, day: datetime.date) -> ClusterSnapshot:
        """The same state with the versions in force on another day; it closes with this one."""
        if self.epoch(day) == self.epoch(self.day):
            return self
        other = copy.copy(self)
        other._show(day)
        return other

    def coverage(self, day: datetime.date) -> DayCoverage:
        """How many documents are in force on a day, and how many are known only from a later day on."""
        return super().coverage(day) if self._periods is None else self._periods.coverage(day)

    def history(self, id: str) -> list[Document]:
        """All versions of a document, the oldest first; `NotFoundError` for an unknown id."""
        if self._periods is None:
            return super().history(id)
        found = [version for versions in self.all_shards(lambda _: AllVersions(id)).values() for version in versions]
        return found or self.documents([id])

    def first_known_day(self, id: str) -> datetime.date | None:
        """The first day of the first version or absence of a document."""
        if self._periods is None:
            return super().first_known_day(id)
        found = self.all_shards(lambda _: FirstKnownDay(id)).values()
        return next((day for days in found for day in days), None)

    # Shards

    def all_shards(self, request: Callable[[int], ShardRequest]) -> Mapping[int, Any]:
        """The answers of all shards to a request for each."""
        return self.client.ask({shard: request(shard) for shard in range(self.client.shards)})

    # Documents and their places

    @cached_property
    def ids(self) -> Ids:
        """Ids of all documents, in their order."""
        found = Ids(sorted(id for facts in self._facts for id in facts.ids))
        if len(found) != sum(len(facts.ids) for facts in self._facts):
            raise DataError("two shards hold documents of the same id; build the cluster again")
        return found

    @cached_property
    def documents_of(self) -> list[I32]:
        """For each shard, the numbers of its documents by their numbers in the shard."""
        return [self.ids.ordinals(facts.ids) for facts in self._facts]

    @cached_property
    def places(self) -> tuple[I32, I32]:
        """For each document its shard, and its number there."""
        shard, inside = np.empty(len(self.ids), dtype=np.int32), np.empty(len(self.ids), dtype=np.int32)
        for number, documents in enumerate(self.documents_of):
            shard[documents], inside[documents] = number, np.arange(len(documents), dtype=np.int32)
        return shard, inside

    @cached_property
    def numbering(self) -> Numbering:
        """A router has no files: every document is at its own number."""
        return Numbering(self.ids, self.bases, np.arange(len(self.ids), dtype=np.int32))

    @cached_property
    def bases(self) -> I64:
        """One stretch of documents."""
        return np.array([0, len(self.ids)], dtype=np.int64)

    def shard_mask(self, shard: int, within: Bools | None) -> bytes | None:
        """The part of a mask that is about the documents of a shard, as bits."""
        return None if within is None else np.packbits(within[self.documents_of[shard]]).tobytes()

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.ids)

    @cached_property
    def written_words(self) -> WrittenWords | None:
        """The words of the documents of all shards; None where an older LexFuse wrote a segment of one."""
        words = ClusterWords(self.all_shards)
        return words if words.complete else None

    # Channels

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels in addition to the words."""
        return tuple(self._channels)

    @property
    def distributions(self) -> dict[str, Any]:
        """The score distributions of all shards together."""
        return self._distributions

    def channel(self, name: str) -> ChannelState:
        """A channel; its parts are at the shards."""
        if name not in self._channels:
            raise UnknownChannelError(f"the cluster has no channel {name!r}; it has {', '.join(self._channels) or 'none'}")
        return self._channels[name]

    def channel_bytes(self, name: str) -> int:
        """0: the files are at the shards."""
        return 0

    def forget_impacts(self) -> None:
        """Nothing is computed at the router."""

    def channel_numbering(self, name: str) -> Numbering:
        """The documents that a channel holds, at their own numbers."""
        if name not in self._numberings:
            self.channel(name)  # an unknown one is named
            held = np.zeros(len(self), dtype=np.bool_)
            for shard, flags in self.all_shards(lambda _: HeldDocuments(name)).items():
                held[self.documents_of[shard]] = flags
            places = np.where(held, np.arange(len(self), dtype=np.int32), np.int32(-1))
            self._numberings[name] = Numbering(self.ids, self.bases, places)
        return self._numberings[name]

    def postings(self, channel: str) -> Postings:
        """The terms of a channel with their statistics; the posting lists are at the shards."""
        if channel not in self._postings:
            empty = np.empty(0, dtype=np.bool_)
            self._postings[channel] = ClusterPostings(
                self._statistics[channel].on(self.day), [], np.zeros(1, dtype=np.int64), empty
            )
        return self._postings[channel]

    def retriever_class(self, usual: type[Made]) -> type[Made]:
        """A class that asks the shards, where the posting lists or vectors of the usual one are there."""
        if usual is ExpressionMatcher:
            return cast("type[Made]", ClusterExpressionMatcher)
        spread = spread_by(usual) if issubclass(usual, ChannelRetriever) else None
        return usual if spread is None else mixed_class(spread, usual, "Cluster")

    # The catalog

    def coded(self, name: str) -> tuple[I32, list[Any]]:
        """One catalog column: the code of each document's value, and the distinct values."""
        if name not in self._coded:
            codes = np.zeros(len(self), dtype=np.int32)
            numbers: defaultdict[Any, int] = defaultdict()
            numbers.default_factory = numbers.__len__
            for shard, (own, values) in self.all_shards(lambda _: CodedColumn(name)).items():
                known = np.fromiter(map(numbers.__getitem__, values), dtype=np.int32, count=len(values))
                codes[self.documents_of[shard]] = known[own] if len(known) else 0
            self._coded[name] = codes, list(numbers)
        return self._coded[name]

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents, in this order; one that is not in force on the day in its newest version."""
        found = self._fetched(ids, heads=False)
        for id in ids:
            if id not in found:
                raise UnknownDocumentError(f"no document {id!r} in the cluster")
        return [found[id] for id in ids]

    def heads(self, ids: Sequence[str]) -> list[Document]:
        """Documents without their texts, in this order, for lists; unknown ids are skipped."""
        found = self._fetched(ids, heads=True)
        return [found[id] for id in ids if id in found]

    def _fetched(self, ids: Sequence[str], *, heads: bool) -> dict[str, Document]:
        owned: dict[int, list[str]] = defaultdict(list)
        others = []
        for id, number in zip(ids, self.ids.ordinals(ids).tolist(), strict=True):
            if number < 0:
                others.append(id)
            else:
                owned[int(self.places[0][number])].append(id)
        answers = list(self.client.ask({shard: WholeDocuments(tuple(some), heads) for shard, some in owned.items()}).values())
        if others and self.has_history:  # they may be in force on another day
            answers += self.all_shards(lambda _: HeldVersions(tuple(others), heads)).values()
        return {document.id: document for documents in answers for document in documents}

    def close(self) -> None:
        """Let go of the shards."""
        self.client.close()
