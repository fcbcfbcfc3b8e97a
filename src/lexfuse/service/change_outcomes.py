"""Outcomes of changes that were answered before they were done: to be asked for by their id."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import Any, Generic, TypeVar

from lexfuse.errors import NotFoundError

Result = TypeVar("Result")

KEPT = 10_000  # outcomes; the oldest is forgotten first


class State(StrEnum):
    """What is known of a change."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChangeOutcome(Generic[Result]):
    """A change that is being made permanent.

    >>> done = Future()
    >>> done.set_result(1)
    >>> ChangeOutcome("a", done).state.value
    'done'
    """

    id: str
    future: Future[Result]

    @property
    def state(self) -> State:
        """What is known of it now."""
        if not self.future.done():
            return State.PENDING
        return State.DONE if self.future.exception() is None else State.FAILED


class Outcomes:
    """The outcomes of one process, which are forgotten when it ends.

    >>> outcomes = Outcomes()
    >>> outcomes.of(outcomes.keep(Future()).id).state.value
    'pending'
    """

    def __init__(self) -> None:
        """None yet."""
        self._lock = Lock()
        self._kept: OrderedDict[str, ChangeOutcome[Any]] = OrderedDict()

    def keep(self, future: Future[Result]) -> ChangeOutcome[Result]:
        """Keep what comes out of a change, under a new id that nobody can guess."""
        outcome = ChangeOutcome(secrets.token_urlsafe(16), future)
        with self._lock:
            self._kept[outcome.id] = outcome
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return outcome

    def of(self, id: str) -> ChangeOutcome[Any]:
        """The outcome of an id; `NotFoundError` if it is not known, or not any more."""
        with self._lock:
            if id not in self._kept:
                raise NotFoundError("no change of this id is known here; read the document to see whether it was made")
            return self._kept[id]
