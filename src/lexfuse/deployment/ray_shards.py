"""The shards of one generation behind Ray Serve: retried, hedged, and given up at a deadline.

A second replica is asked if the first one does not answer soon (a hedge), and another one if a replica is lost. A shard that does
not answer in time is left out of a ranking only where the caller accepts a partial answer (see `lexfuse.cluster.partial_answer`);
anything else fails with an error that says to try again.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from lexfuse.cluster.build.task_runner import error_by_code
from lexfuse.cluster.day_request import without_day
from lexfuse.cluster.partial_answer import lose_shards
from lexfuse.cluster.shard import ShardRequest
from lexfuse.cluster.shard_requests import Ranked, Ranking
from lexfuse.cluster.store import Published
from lexfuse.deadline import seconds_left
from lexfuse.deployment.repeated_call import RepeatedCall, UnansweredError, call
from lexfuse.deployment.shard_metrics import ShardMetrics
from lexfuse.deployment.shard_replica import ShardAnswer
from lexfuse.errors import ConfigError, DeadlineError, OverloadError

Result = TypeVar("Result")
SHARD_SECONDS, HEDGE_SECONDS = 10.0, 0.2  # where nothing else is chosen
_LATE = DeadlineError.code


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
        began = time.monotonic()
        asked: RepeatedCall[ShardAnswer] = RepeatedCall(
            lambda left: call(self._handles[shard].answer, self._published, request, left),
            self._limits.hedge_seconds,
            is_final=lambda answer: answer.code != _LATE,
            repeated=partial(self._metrics.retried, shard),
            hedged=partial(self._metrics.hedged, shard),
            withdrawn=True,  # else copies that nobody waits for fill the queues of slow replicas
        )
        try:
            answer = await asked.answer(seconds)
            if answer.code == _LATE:
                raise UnansweredError(f"no answer within {seconds:g} seconds")
        except UnansweredError as error:
            self._metrics.lost(shard)
            return _Unanswered(str(error))
        self._metrics.answered(shard, time.monotonic() - began)
        return _value(answer)


def _value(answer: ShardAnswer) -> Any:
    if answer.code:
        raise error_by_code(answer.code, answer.message)
    return answer.value


def _are_rankings(requests: Mapping[int, ShardRequest]) -> bool:
    return all(isinstance(without_day(request), Ranking) for request in requests.values())


def _nothing(request: ShardRequest) -> Ranked:
    """The rankings of a shard that has none of the documents."""
    asked = without_day(request)
    queries = len(asked.queries) if isinstance(asked, Ranking) else 0
    offsets = np.zeros(queries + 1, dtype=np.int64)
    return Ranked(offsets, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32), None)
