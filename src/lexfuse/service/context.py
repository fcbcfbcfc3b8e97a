"""State that all requests share: the indexes, the settings, and the threads and processes that do the work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import ParamSpec, TypeVar

from pydantic import BaseModel

from lexfuse.channels.query_context import query_context
from lexfuse.deadline import Deadline, limited
from lexfuse.errors import DeadlineError
from lexfuse.service.change_outcomes import ChangeOutcome, Outcomes
from lexfuse.service.middleware.request_log import note_answer, note_facts
from lexfuse.service.parameters import check_length
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.search_processes import OperationCall, SearchProcesses, WrittenCall
from lexfuse.service.settings import ServiceSettings
from lexfuse.service.uploads import UploadReader, UploadText

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
Given = TypeVar("Given")

PARSERS = 2  # files read at the same time


class ServiceContext:
    """The indexes behind a bounded number of threads; a call that takes too long is stopped.

    Searches, writes and uploads do not wait for each other: `workers` threads search, or `search_processes` processes, one thread
    per index writes, and child processes read uploaded files.

    >>> import asyncio
    >>> service = ServiceContext(IndexRegistry([]), ServiceSettings())
    >>> asyncio.run(service.run(sum, [1, 2]))
    3
    """

    def __init__(self, registry: IndexRegistry, settings: ServiceSettings, processes: SearchProcesses | None = None) -> None:
        """Start the threads; the context closes the processes."""
        self.registry = registry
        self.settings = settings
        self.outcomes = Outcomes()
        self._searchers = _Workers(settings.search_threads, "search")
        self._writers = {name: _Workers(1, f"write-{name}") for name in registry.names}
        self._processes = processes
        self._parsers = _Workers(PARSERS, "upload")
        self._uploads = UploadReader()

    async def run(self, call: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        """Run a call that reads on a search thread; after `timeout_seconds` it is stopped, with a `DeadlineError`."""
        answer = await self._done(self._searchers, lambda: call(*args, **kwargs), Deadline(self.settings.timeout_seconds))
        note_answer(answer)
        return answer

    async def answer(self, operation: Callable[[IndexRegistry, Given], Answer], given: Given) -> Answer:
        """The answer of an operation to parameters, whose question and text must not be too long."""
        check_length(given, self.settings)
        answer = await self._read(OperationCall(operation, given))
        note_answer(answer)
        return answer

    async def written(self, operation: Callable[[IndexRegistry, Given], BaseModel], given: Given) -> str:
        """The same answer as JSON."""
        check_length(given, self.settings)
        answer = await self._read(WrittenCall(operation, given))
        note_facts(answer.facts)
        return answer.text

    async def write(
        self, index: str, call: Callable[Parameters, Answer], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Answer | ChangeOutcome[Answer]:
        """Run a call that changes an index on the write thread of the index.

        After `timeout_seconds` it is stopped; `DeadlineError` then means that nothing was changed. A change that is being
        committed at that moment cannot be stopped: its `ChangeOutcome` is returned instead.
        """
        writer = self._writers[self.registry.index(index).name]
        deadline = Deadline(self.settings.timeout_seconds)
        future = writer.submit(lambda: call(*args, **kwargs), deadline)
        if not await _ended(future, deadline):
            stopped = future.cancel() or deadline.revoke()
            if not stopped:
                return self.outcomes.keep(future)
            if future.cancelled() or not future.done():
                reason = f"not done within {deadline.seconds:g} seconds, and nothing was changed; try again"
                raise DeadlineError(reason, retry_after=5)
        answer = future.result()
        note_answer(answer)
        return answer

    async def read_upload(self, raw: bytes, name: str) -> UploadText:
        """The text of an uploaded file, read in a child process with limited time and memory."""
        deadline = Deadline(self.settings.timeout_seconds)
        return await self._done(self._parsers, lambda: self._uploads.read(raw, name, deadline), deadline)

    @property
    def stuck(self) -> int:
        """How many search threads are still busy with a call whose time is over."""
        return self._searchers.stuck

    def close(self) -> None:
        """Wait for running calls, then close the indexes."""
        self._uploads.close()
        for workers in (self._parsers, self._searchers, *self._writers.values()):
            workers.close()
        if self._processes:
            self._processes.close()
        self.registry.close()

    async def _read(self, call: Callable[[IndexRegistry], Answer]) -> Answer:
        """What a call to the indexes returns, on a search thread or by a search process."""
        deadline, processes = Deadline(self.settings.timeout_seconds), self._processes
        if processes is None:
            return await self._done(self._searchers, lambda: call(self.registry), deadline)
        return await self._done(self._searchers, lambda: processes.answer(call, self.registry, deadline), deadline)

    async def _done(self, workers: _Workers, call: Callable[[], Answer], deadline: Deadline) -> Answer:
        future = workers.submit(call, deadline)
        if not await _ended(future, deadline):
            future.cancel()
            deadline.revoke()
            raise deadline.error()
        return future.result()


class _Workers:
    """Threads, and the deadlines of their calls."""

    def __init__(self, count: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix=f"lexfuse-{name}")
        self._lock = Lock()
        self._running: set[Deadline] = set()

    def submit(self, call: Callable[[], Answer], deadline: Deadline) -> Future[Answer]:
        return self._threads.submit(self._run, call, deadline)

    @property
    def stuck(self) -> int:
        with self._lock:
            return sum(deadline.passed for deadline in self._running)

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run(self, call: Callable[[], Answer], deadline: Deadline) -> Answer:
        with self._lock:
            self._running.add(deadline)
        try:
            with limited(deadline), query_context():
                return call()
        finally:
            with self._lock:
                self._running.remove(deadline)


async def _ended(future: Future[Answer], deadline: Deadline) -> bool:
    """Wait for a call until its deadline; whether it has ended."""
    waiting = asyncio.wrap_future(future)
    waiting.add_done_callback(
        lambda done: done.cancelled() or done.exception()
    )  # otherwise asyncio logs an error that is never retrieved
    done, _ = await asyncio.wait([waiting], timeout=deadline.left)
    return bool(done)
