"""How routers reach shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any, Protocol

from lexfuse.cluster.shard import Shard, ShardRequest
from lexfuse.cluster.statistics import Statistics


class ShardClient(Protocol):
    """Sends requests to the shards of a cluster."""

    @property
    def shards(self) -> int:
        """How many shards there are, numbered from 0."""

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """The answers of shards, by their numbers: of all that are asked, or an error."""

    def close(self) -> None:
        """Let go of the shards."""


class LocalShards:
    """Shards in this process, a thread each.

    >>> from lexfuse.cluster.shard_requests import DocumentCount
    >>> from lexfuse.cluster.statistics import gather_statistics
    >>> LocalShards([snapshot.folder], gather_statistics([snapshot])).ask({0: DocumentCount()})
    {0: 6}
    """

    def __init__(self, folders: Sequence[Path], statistics: Statistics) -> None:
        """Open the newest state of every folder."""
        self._shards = [Shard(folder, statistics) for folder in folders]
        self._threads = ThreadPoolExecutor(max_workers=max(len(folders), 1), thread_name_prefix="shard")

    @property
    def shards(self) -> int:
        """How many shards there are, numbered from 0."""
        return len(self._shards)

    def ask(self, requests: Mapping[int, ShardRequest]) -> dict[int, Any]:
        """The answers of shards, by their numbers; the first error that one of them raises."""
        asked = {at: self._threads.submit(copy_context().run, self._shards[at].answer, one) for at, one in requests.items()}
        return {at: answer.result() for at, answer in asked.items()}

    def close(self) -> None:
        """Close the files."""
        self._threads.shutdown()
        for shard in self._shards:
            shard.close()
