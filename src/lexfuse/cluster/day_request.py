"""Requests about the law of a day, where documents have versions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lexfuse.cluster.shard import Shard, ShardRequest
from lexfuse.cluster.shard_client import ShardClient


@dataclass(frozen=True, slots=True, eq=False)
class DayRequest:
    """A request about the documents that are in force on a day."""

    day: datetime.date
    request: ShardRequest

    def answer(self, shard: Shard) -> Any:
        """What the shard says about that day."""
        return self.request.answer(shard.on(self.day))


@dataclass(frozen=True, slots=True)
class DayClient:
    """The shards of a cluster, asked about one day.

    >>> from lexfuse.cluster.shard_client import LocalShards
    >>> from lexfuse.cluster.shard_requests import DocumentCount
    >>> from lexfuse.cluster.statistics import gather_statistics
    >>> shards = LocalShards([snapshot.folder], gather_statistics([snapshot]))
    >>> DayClient(shards, datetime.date(2022, 1, 1)).ask({0: DocumentCount()})
    {0: 6}
    """

    client: ShardClient
    day: datetime.date

    @property
    def shards(self) -> int:
        """How many shards there are, numbered from 0."""
        return self.client.shards

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """The answers of shards, by their numbers."""
        return self.client.ask({shard: DayRequest(self.day, request) for shard, request in requests.items()})

    def close(self) -> None:
        """Let go of the shards."""
        self.client.close()


def without_day(request: ShardRequest) -> ShardRequest:
    """What is asked about a day, or the request itself.

    >>> from lexfuse.cluster.shard_requests import DocumentCount
    >>> without_day(DayRequest(datetime.date(2022, 1, 1), DocumentCount()))
    DocumentCount()
    """
    return request.request if isinstance(request, DayRequest) else request
