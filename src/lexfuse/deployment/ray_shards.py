"""The shards of one generation behind Ray Serve: retried, hedged, and given up at a deadline.

A request to a shard changes nothing, so it may be sent twice. A second replica is asked if the first one does not answer soon
(a hedge), and another one if a replica is lost. A shard that does not answer in time is left out of a ranking only where the
caller accepts a partial answer (see `lexfuse.cluster.partial_answer`); anything else fails with an error that says to try again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from lexfuse.cluster.partial_answer import lose_shards
from lexfuse.cluster.shard import ShardRequest
from lexfuse.cluster.shard_requests import Ranked, Ranking
from lexfuse.cluster.store import Published
from lexfuse.cluster.task_runner import error_by_code
from lexfuse.deadline import seconds_left
from lexfuse.deployment.shard_metrics import ShardMetrics
from lexfuse.deployment.shard_replica import ShardAnswer
from lexfuse.errors import ConfigError, DeadlineError, OverloadError

Result = TypeVar("Result")
SHARD_SECONDS, HEDGE_SECONDS = 10.0, 0.2  # where nothing else is chosen
_LATE = DeadlineError.code
_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds before a lost request is sent again


@dataclass(frozen=True, slots=True)
class ShardLimits:
    """How long a router waits for shards.

    >>> ShardLimits(seconds=0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the seconds of a shard must be above 0, got 0
    """

    seconds: float = SHARD_SECONDS  # until a shard is given up
    hedge_seconds: float = HEDGE_SECONDS  # until a second replica is asked; 0 is never
    partial: bool = True  # whether rankings may leave out shards, where the caller accepts it

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.seconds <= 0:
            raise ConfigError(f"the seconds of a shard must be above 0, got {self.seconds:g}")
        if self.hedge_seconds < 0:
            raise ConfigError(f"the seconds before a hedged request must be 0 or more, got {self.hedge_seconds:g}")


class EventLoop:
    """An event loop in a thread, by which threads wait for several answers at once.

    >>> EventLoop().run(asyncio.sleep(0, "done"))
    'done'
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="shards", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of a coroutine, for a thread that waits."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """Why a shard did not answer."""

    reason: str


class RayShards:
    """A `lexfuse.cluster.shard_client.ShardClient` for one generation, over one Serve deployment per shard."""

    def __init__(
        self, handles: Sequence[Any], published: Published, limits: ShardLimits, loop: EventLoop, metrics: ShardMetrics
    ) -> None:
        """Take the handles of the deployments, by the number of the shard."""
        self._handles, self._published, self._limits = handles, published, limits
        self._loop, self._metrics = loop, metrics

    @property
    def shards(self) -> int:
        """How many shards there are, numbered from 0."""
        return len(self._handles)

    def ask(self, requests: Mapping[int, ShardRequest]) -> dict[int, Any]:
        """The answers of shards, by their numbers; an error if one is missing and a partial answer is not accepted."""
        seconds = seconds_left(self._limits.seconds)
        answers = dict(zip(requests, self._loop.run(self._asked(requests, seconds)), strict=True))
        lost = {shard: answer.reason for shard, answer in answers.items() if isinstance(answer, _Unanswered)}
        if lost:
            reason = next(iter(lost.values()))
            if not self._limits.partial or len(lost) == len(requests) or not _are_rankings(requests):
                listed = ", ".join(map(str, sorted(lost)))
                raise OverloadError(f"shards of the cluster are not available: {listed} ({reason}); try again", retry_after=1)
            lose_shards(lost, reason)
            answers |= {shard: _nothing(requests[shard]) for shard in lost}
        return answers

    def close(self) -> None:
        """Nothing: the deployments go on."""

    async def _asked(self, requests: Mapping[int, ShardRequest], seconds: float) -> list[Any]:
        return await asyncio.gather(*(self._answer(shard, request, seconds) for shard, request in requests.items()))

    async def _answer(self, shard: int, request: ShardRequest, seconds: float) -> Any:
        loop = asyncio.get_running_loop()
        began, until = loop.time(), loop.time() + seconds
        hedge, failures, reason = self._limits.hedge_seconds, 0, f"no answer within {seconds:g} seconds"
        waiting = {asyncio.create_task(self._send(shard, request, seconds))}
        try:
            while (left := until - loop.time()) > 0:
                done, waiting = await asyncio.wait(
                    waiting, timeout=min(left, hedge) if hedge else left, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    if (error := task.exception()) is None:
                        if task.result().code != _LATE:
                            self._metrics.answered(shard, loop.time() - began)
                            return _value(task.result())
                    else:  # a replica or its machine was lost, or its queue is full
                        failures, reason = failures + 1, type(error).__name__
                        self._metrics.retried(shard)
                if not waiting:
                    await asyncio.sleep(min(_PAUSE * 2**failures, _LONGEST_PAUSE, max(0.0, until - loop.time())))
                    waiting = {asyncio.create_task(self._send(shard, request, max(0.0, until - loop.time())))}
                elif hedge and not done:
                    self._metrics.hedged(shard)
                    waiting = waiting | {asyncio.create_task(self._send(shard, request, left))}
                    hedge = 0.0
        finally:
            for task in waiting:
                task.cancel()
        self._metrics.lost(shard)
        return _Unanswered(reason)

    async def _send(self, shard: int, request: ShardRequest, seconds: float) -> ShardAnswer:
        response = self._handles[shard].answer.remote(self._published, request, seconds)
        try:
            answer: ShardAnswer = await response
        except asyncio.CancelledError:
            response.cancel()
            raise
        return answer


def _value(answer: ShardAnswer) -> Any:
    if answer.code:
        raise error_by_code(answer.code, answer.message)
    return answer.value


def _are_rankings(requests: Mapping[int, ShardRequest]) -> bool:
    return all(isinstance(request, Ranking) for request in requests.values())


def _nothing(request: ShardRequest) -> Ranked:
    """The rankings of a shard that has none of the documents."""
    queries = len(request.queries) if isinstance(request, Ranking) else 0
    offsets = np.zeros(queries + 1, dtype=np.int64)
    return Ranked(offsets, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32), None)
