"""Deadlines: a call that somebody waits for stops when nobody waits any more.

A thread cannot be stopped from outside, so the work itself asks. Whoever starts a call sets a `Deadline` with `limited`;
loops that may run long call `check`, and the one place that makes a change permanent calls `claim`. Where no deadline is set,
both do nothing.
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
    """The moment at which a call must be done. It is revoked, or claimed, once; never both.

    A change claims its deadline just before it becomes permanent, and runs to its end from there on. Whoever waits revokes the
    deadline when it gives up. So an answer "not done" is true: what was not claimed by then is never made permanent.

    >>> deadline = Deadline(60)
    >>> deadline.claim(), deadline.revoke(), deadline.passed
    (None, False, False)
    """

    def __init__(self, seconds: float) -> None:
        """Begin to count."""
        self.seconds = seconds
        self.claimed = False
        self._at = time.monotonic() + seconds
        self._revoked = False
        self._lock = Lock()

    @property
    def passed(self) -> bool:
        """Whether it is too late.

        >>> Deadline(0).passed, Deadline(60).passed
        (True, False)
        """
        return self._revoked or time.monotonic() >= self._at

    @property
    def left(self) -> float:
        """Seconds until then, at least 0.

        >>> Deadline(0).left
        0.0
        """
        return max(0.0, self._at - time.monotonic())

    def check(self) -> None:
        """Stop a call that is too late; one that has claimed its deadline goes on.

        >>> Deadline(0).check()
        Traceback (most recent call last):
        ...
        lexfuse.errors.DeadlineError: not done within 0 seconds; ask for less, or try again
        """
        if self.passed and not self.claimed:
            raise self.error()

    def claim(self) -> None:
        """Go on to the end from here, or stop if it is too late."""
        with self._lock:
            self.check()
            self.claimed = True

    def revoke(self) -> bool:
        """Have the call stop at its next check; false if it has claimed its deadline and goes on."""
        with self._lock:
            self._revoked = not self.claimed
            return self._revoked

    def error(self) -> DeadlineError:
        """The error of a call that is not done in time."""
        return DeadlineError(f"not done within {self.seconds:g} seconds; ask for less, or try again", retry_after=5)


@contextmanager
def unlimited() -> Iterator[None]:
    """Work for others too, whose deadlines are not that of this call.

    >>> with unlimited():
    ...     check()
    """
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def limited(deadline: Deadline) -> Iterator[None]:
    """Work under a deadline; threads that are started inside get it by a copy of the context.

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


def check() -> None:
    """Stop if the deadline of this call has passed; cheap enough for loops (a tenth of a microsecond).

    >>> check()
    """
    if (deadline := _current.get()) is not None:
        deadline.check()


def claim() -> None:
    """Say that this call makes its change permanent now; see `Deadline.claim`.

    >>> claim()
    """
    if (deadline := _current.get()) is not None:
        deadline.claim()
