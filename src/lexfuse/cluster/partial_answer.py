"""Answers without some shards: only a caller that says so to its own caller gets one, and never unknowingly."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lexfuse.errors import OverloadError

_lost: ContextVar[set[int] | None] = ContextVar("lost shards", default=None)


@contextmanager
def partial_answer() -> Iterator[set[int]]:
    """Accept that shards do not answer; the value has their numbers afterwards.

    >>> with partial_answer() as lost:
    ...     lose_shards({2}, "no answer in time")
    >>> lost
    {2}
    """
    lost: set[int] = set()
    token = _lost.set(lost)
    try:
        yield lost
    finally:
        _lost.reset(token)


def lose_shards(shards: Collection[int], reason: str) -> None:
    """Go on without some shards, or raise where a partial answer is not accepted.

    >>> lose_shards({0, 2}, "no answer in time")
    Traceback (most recent call last):
    ...
    lexfuse.errors.OverloadError: shards 0, 2 of the cluster are not available (no answer in time); try again
    """
    lost = _lost.get()
    if lost is None:
        listed = f"shard{'s' if len(shards) > 1 else ''} {', '.join(map(str, sorted(shards)))}"
        raise OverloadError(
            f"{listed} of the cluster {'are' if len(shards) > 1 else 'is'} not available ({reason}); try again", retry_after=1
        )
    lost.update(shards)
