"""Processes that answer operations, for services with more requests than one interpreter can handle.

Threads share one interpreter, which runs one of them at a time, and most of a search is Python: however many threads search, they
use little more than one processor. A search process (`lexfuse.service.search_child`) has its own interpreter and opens the same
indexes; their files are mapped, so that processes share them in memory. Each answers one operation at a time.

The service stays in charge of everything else: connections, keys, limits, metrics, writes, and which version of an index is the
newest. A process follows it before it answers, so that a search sees what was written before it was sent. What a process cannot
answer, the service answers itself: it raises the error, or has the older version of an index that a further page needs.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, LifoQueue
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from lexfuse.deadline import Deadline
from lexfuse.errors import ConfigError, OverloadError
from lexfuse.service.child_process import ChildProcess
from lexfuse.service.logs import log
from lexfuse.service.middleware.request_log import AnswerFacts
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.settings import ServiceSettings

Answer = TypeVar("Answer")
Given = TypeVar("Given")

GRACE = 1.0  # seconds after its deadline in which a process may still say that it is late; then it is killed
START_SECONDS = 600.0  # to open the indexes and load the models
_MODULE = "lexfuse.service.search_child"
_NOT_STARTED = "a search process did not start; its error is above; lower search_processes if memory is short"
FAILED = b""  # the answer of a process that has none


class RemoteCall(NamedTuple):
    """What a process is asked: a call, the versions that the service has, and the seconds that are left."""

    call: Callable[[IndexRegistry], Any]
    generations: dict[str, int]
    seconds: float


@dataclass(frozen=True, slots=True)
class OperationCall(Generic[Given, Answer]):
    """An operation and its parameters.

    >>> from lexfuse.service.operations.search import SearchQuery, search
    >>> OperationCall(search, SearchQuery(query="retard de prêt", k=1))(registry).results[0].id
    'lib-4'
    """

    operation: Callable[[IndexRegistry, Given], Answer]
    given: Given

    def __call__(self, registry: IndexRegistry) -> Answer:
        """The answer."""
        return self.operation(registry, self.given)


class WrittenAnswer(NamedTuple):
    """An answer as JSON, and what the log and the metrics say about it."""

    text: str
    facts: AnswerFacts


@dataclass(frozen=True, slots=True)
class WrittenCall(Generic[Given]):
    """An operation whose answer is written where it was made, so that it delays no other request.

    >>> from lexfuse.service.operations.search import SearchQuery, search
    >>> WrittenCall(search, SearchQuery(query="retard de prêt", k=1))(registry).text[:14]
    '{"index":"law"'
    """

    operation: Callable[[IndexRegistry, Given], BaseModel]
    given: Given

    def __call__(self, registry: IndexRegistry) -> WrittenAnswer:
        """The answer as JSON."""
        answer = self.operation(registry, self.given)
        return WrittenAnswer(answer.model_dump_json(), AnswerFacts.of(answer))


class SearchProcesses:
    """A number of processes; thread-safe: each thread has one while it waits for its answer.

    >>> with IndexRegistry.open([IndexPlace.of("library.index")]) as registry:  # doctest: +SKIP
    ...     processes = SearchProcesses(ServiceSettings(indexes=["library.index"], search_processes=2))
    ...     processes.answer(OperationCall(search, SearchQuery(query="prêt")), registry, Deadline(60)).index
    'library'
    """

    def __init__(self, settings: ServiceSettings) -> None:
        """Start them; each is ready once it has opened the indexes."""
        self._free: LifoQueue[_Process] = LifoQueue()  # the last one used first: its caches are warm
        self._all = [_Process(settings) for _ in range(settings.search_processes)]
        try:
            started = [(one, one.start()) for one in self._all]
            for one, child in started:
                one.wait(child, START_SECONDS)
                self._free.put(one)
        except BaseException as error:
            self.close()
            if isinstance(error, EOFError):
                raise ConfigError(_NOT_STARTED) from None
            raise

    def answer(self, call: Callable[[IndexRegistry], Answer], registry: IndexRegistry, deadline: Deadline) -> Answer:
        """What a call returns or raises, by the next free process."""
        try:
            process = self._free.get(timeout=deadline.left)
        except Empty:
            raise deadline.error() from None
        try:
            generations = {name: registry.index(name).generation for name in registry.names}
            raw = process.answer(RemoteCall(call, generations, deadline.left), deadline)
        finally:
            self._free.put(process)
        if raw == FAILED:
            return call(registry)
        answer: Answer = pickle.loads(raw)  # noqa: S301 -- from a process of ours, through its pipe
        return answer

    def close(self) -> None:
        """End all of them."""
        for one in self._all:
            one.end()


class _Process:
    """A search process that is started again where it has ended."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._child: ChildProcess | None = None  # none before it is needed, and after it has ended

    def start(self) -> ChildProcess:
        self._child = ChildProcess(_MODULE)
        return self._child

    def wait(self, child: ChildProcess, seconds: float) -> ChildProcess:
        """Wait until the indexes are open."""
        self._asked(child, pickle.dumps(self._settings), seconds)
        return child

    def answer(self, asked: RemoteCall, deadline: Deadline) -> bytes:
        if self._child and self._child.process.poll() is not None:
            self._ended(self._child)  # while nobody asked it anything
        try:
            # The start may take longer than this request has: its client gets an error in time, and the next one a process.
            child = self._child or self.wait(self.start(), START_SECONDS)
            return self._asked(child, pickle.dumps(asked), deadline.left + GRACE)
        except EOFError:
            if deadline.passed:
                raise deadline.error() from None
            raise OverloadError("the process that searched has ended; another one is started; try again", retry_after=1) from None

    def end(self) -> None:
        child, self._child = self._child, None
        if child:
            child.kill()

    def _asked(self, child: ChildProcess, frame: bytes, seconds: float) -> bytes:
        try:
            return child.ask(frame, seconds=seconds)
        except BaseException:
            self._ended(child)  # what it may still say would be taken for the answer to the next call
            raise

    def _ended(self, child: ChildProcess) -> None:
        self.end()
        log.error("a search process has ended", extra={"fields": {"exit_status": child.process.returncode}})
