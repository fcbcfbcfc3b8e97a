"""Deadlines: a call stops when its caller no longer waits.

A thread cannot be stopped from outside, so the work itself checks. The caller sets a `Deadline` with `limited`; long loops call
`check`, and the one place that makes a change permanent calls `claim`. Both do nothing when no deadline is set.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from lexfuse.errors import DeadlineError

_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


class Deadline:
    """The moment at which a call must be done. It is either revoked or claimed, once.

    A change claims its deadline just before it becomes permanent and then runs to its end. A caller that gives up revokes the
    deadline. So the answer "not done" is reliable: a change that was not claimed by then never becomes permanent.

    >>> deadline = Deadline(60)
    >>> deadline.claim(), deadline.revoke(), deadline.passed
    (None, False, False)
    """

    def __init__(self, seconds: float) -> None:
        """Start the clock."""
        self.seconds = seconds
        self.claimed = False
        self._at = time.monotonic() + seconds
        self._revoked = False
        self._lock = Lock()

    @property
    def passed(self) -> bool:
        """Whether the time is over or the deadline was revoked."""
        return self._revoked or time.monotonic() >= self._at

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self._at - time.monotonic())

    def check(self) -> None:
        """Raise `DeadlineError` if it is too late and the deadline is not claimed.

        >>> Deadline(0).check()
        Traceback (most recent call last):
        ...
        lexfuse.errors.DeadlineError: not done within 0 seconds; ask for less, or try again
        """
        if self.passed and not self.claimed:
            raise self.error()

    def claim(self) -> None:
        """Run to the end from here on, or raise if it is too late."""
        with self._lock:
            self.check()
            self.claimed = True

    def revoke(self) -> bool:
        """Make the call stop at its next check; false if it has already claimed the deadline."""
        with self._lock:
            self._revoked = not self.claimed
            return self._revoked

    def error(self) -> DeadlineError:
        """The error of a call that is too late."""
        return DeadlineError(f"not done within {self.seconds:g} seconds; ask for less, or try again", retry_after=5)


@contextmanager
def unlimited() -> Iterator[None]:
    """Run without the deadline of this call: work that other calls share."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def limited(deadline: Deadline) -> Iterator[None]:
    """Run under a deadline; threads started inside inherit it through the copied context.

    >>> with limited(Deadline(0)):
    ...     check()
    Traceback (most recent call last):
    ...
    lexfuse.errors.DeadlineError: not done within 0 seconds; ask for less, or try again
    """
    token = _current.set(deadline)
    try:
        deadline.check()
        yield
    finally:
        _current.reset(token)


def current() -> Deadline | None:
    """The deadline of this call, for work that another program does for it.

    >>> with limited(Deadline(60)):
    ...     current().seconds
    60
    """
    return _current.get()


def check() -> None:
    """Raise if the deadline of this call has passed. It costs a tenth of a microsecond, so loops can afford it."""
    if (deadline := _current.get()) is not None:
        deadline.check()


def seconds_left(most: float) -> float:
    """Seconds until the deadline of this call, at most the given number.

    >>> with limited(Deadline(60)):
    ...     seconds_left(10), seconds_left(100) <= 60
    (10, True)
    """
    deadline = _current.get()
    return most if deadline is None else min(most, deadline.left)


def claim() -> None:
    """Announce that this call makes its change permanent now; see `Deadline.claim`."""
    if (deadline := _current.get()) is not None:
        deadline.claim()
