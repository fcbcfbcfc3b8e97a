"""Calls of Ray Serve deployments that change nothing, and so can be sent twice: repeated, hedged, given up at a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")
_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds before a failed call is sent again
_PATIENCE = 4.0  # by which each hedge waits longer than the one before


def _ignore() -> None:
    """Nobody counts."""


class UnansweredError(Exception):
    """No replica has answered in time; the message is the reason."""


@dataclass(frozen=True, slots=True)
class RepeatedCall(Generic[Answer]):
    """A call that is sent again when its replica is lost, and also, after longer and longer times, when no answer comes.

    Ray Serve chooses a replica by the queue lengths that it last heard of, and may choose one twice whose machine is gone.

    >>> async def answer(seconds: float) -> str:
    ...     return "done"
    >>> asyncio.run(RepeatedCall(answer, hedge_seconds=0.2).answer(10))
    'done'
    """

    send: Callable[[float], Coroutine[Any, Any, Answer]]  # sends it once, given the seconds that are left
    hedge_seconds: float  # until it is first sent again without an answer; 0 is never
    is_final: Callable[[Answer], bool] = lambda answer: True  # other answers are used only if no call is left that may be better
    may_repeat: Callable[[BaseException], bool] = lambda error: True  # whether an error means that a replica was lost
    repeated: Callable[[], None] = _ignore
    hedged: Callable[[], None] = _ignore
    withdrawn: bool = False  # whether calls whose answers are no longer needed are cancelled; else they end by themselves

    async def answer(self, seconds: float) -> Answer:
        """The first final answer; `UnansweredError` when the time is over."""
        loop = asyncio.get_running_loop()
        until, hedge, failures = loop.time() + seconds, self.hedge_seconds, 0
        reason = f"no answer within {seconds:g} seconds"
        waiting = {asyncio.create_task(self.send(seconds))}
        try:
            while (left := until - loop.time()) > 0:
                done, waiting = await asyncio.wait(
                    waiting, timeout=min(left, hedge) if hedge else left, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    error = task.exception()
                    if error is None and (self.is_final(task.result()) or not waiting):
                        return task.result()
                    if error is not None:
                        if not self.may_repeat(error):
                            raise error
                        failures, reason = failures + 1, type(error).__name__
                        self.repeated()
                if not waiting:
                    await asyncio.sleep(min(_PAUSE * 2**failures, _LONGEST_PAUSE, max(0.0, until - loop.time())))
                    waiting = {asyncio.create_task(self.send(max(0.0, until - loop.time())))}
                elif hedge and not done:
                    self.hedged()
                    waiting = waiting | {asyncio.create_task(self.send(left))}
                    hedge *= _PATIENCE
        finally:
            for task in waiting:
                self._abandon(task)
        raise UnansweredError(reason)

    def _abandon(self, task: asyncio.Task[Answer]) -> None:
        """Wait no longer for a call."""
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # else asyncio logs an error nobody retrieves
        if self.withdrawn:
            task.cancel()


async def call(method: Any, *given: Any) -> Any:
    """The answer of a method of a deployment's handle; a call that is cancelled leaves the queue of its replica."""
    response = method.remote(*given)
    try:
        return await response
    except asyncio.CancelledError:
        response.cancel()
        raise
