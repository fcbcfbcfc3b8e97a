"""How routers reach shards: in their own process, or by tasks of whoever builds a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lexfuse.cluster.build.task_runner import TaskRunner
from lexfuse.cluster.local_copy import LocalCopies, copies_folder
from lexfuse.cluster.shard import Shard, ShardRequest
from lexfuse.cluster.statistics import Statistics, load_statistics
from lexfuse.cluster.store import ClusterStore, Published


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


class ShardQuestion(NamedTuple):
    """A request to a shard of a generation."""

    uri: str
    published: Published
    shard: int
    request: ShardRequest


def answer_question(question: ShardQuestion) -> tuple[int, Any]:
    """The number of the shard, and its answer from a local copy, which replicas of a service on this machine share."""
    store = ClusterStore(question.uri)
    manifest = store.manifest(question.published)
    copies = LocalCopies(store, copies_folder(question.uri, f"shard-{question.shard}"))
    statistics, held = load_statistics(copies.statistics(manifest)), copies.held_shard(manifest, question.shard)
    try:
        shard = Shard(held.path, statistics)
        try:
            return question.shard, shard.answer(question.request)
        finally:
            shard.close()
    finally:
        held.release()


class TaskShards:
    """The shards of a published generation; every request opens its shard, so this is for work that takes long.

    >>> from lexfuse.cluster.build.task_runner import LocalTasks
    >>> TaskShards(ClusterStore(str(folder)), Published(), 2, LocalTasks()).shards
    2
    """

    def __init__(self, store: ClusterStore, published: Published, shards: int, tasks: TaskRunner) -> None:
        """Ask nothing yet."""
        self._store, self._published, self._tasks, self.shards = store, published, tasks, shards

    def ask(self, requests: Mapping[int, ShardRequest]) -> dict[int, Any]:
        """The answers of shards, by their numbers; the first error that one of them raises."""
        uri = self._store.absolute_uri
        questions = [ShardQuestion(uri, self._published, shard, request) for shard, request in requests.items()]
        answers = dict(self._tasks.run(answer_question, questions))
        return {shard: answers[shard] for shard in requests}

    def close(self) -> None:
        """Nothing is open."""
