"""Shards that are asked by tasks: whoever does the tasks of a build also answers requests about a published generation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lexfuse.cluster.local_copy import LocalCopies, copies_folder
from lexfuse.cluster.shard import Shard, ShardRequest
from lexfuse.cluster.statistics import load_statistics
from lexfuse.cluster.store import ClusterStore, Published
from lexfuse.cluster.task_runner import TaskRunner


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

    >>> from lexfuse.cluster.task_runner import LocalTasks
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
