"""Outcomes of changes that took longer than their request, by id."""

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

KEPT = 10_000  # outcomes; the oldest is dropped first


class State(StrEnum):
    """The state of a change."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChangeOutcome(Generic[Result]):
    """A change that is being committed.

    >>> done = Future()
    >>> done.set_result(1)
    >>> ChangeOutcome("a", done).state.value
    'done'
    """

    id: str
    future: Future[Result]

    @property
    def state(self) -> State:
        """The current state."""
        if not self.future.done():
            return State.PENDING
        return State.DONE if self.future.exception() is None else State.FAILED


class Outcomes:
    """The outcomes of one process; they are lost when it ends.

    >>> outcomes = Outcomes()
    >>> outcomes.of(outcomes.keep(Future()).id).state.value
    'pending'
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = Lock()
        self._kept: OrderedDict[str, ChangeOutcome[Any]] = OrderedDict()

    def keep(self, future: Future[Result]) -> ChangeOutcome[Result]:
        """Keep the outcome of a change under a new unguessable id."""
        outcome = ChangeOutcome(secrets.token_urlsafe(16), future)
        with self._lock:
            self._kept[outcome.id] = outcome
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return outcome

    def of(self, id: str) -> ChangeOutcome[Any]:
        """The outcome of an id; `NotFoundError` if the id is unknown or was dropped."""
        with self._lock:
            if id not in self._kept:
                raise NotFoundError("there is no change with this id; read the document to see whether it was made")
            return self._kept[id]
