"""What every request shares: the library, the settings, and the threads that do the work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from lexfuse.errors import OverloadError
from lexfuse.service.following import notice
from lexfuse.service.library import Library
from lexfuse.service.settings import ServiceSettings

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class Service:
    """The library behind a bounded number of threads; what takes too long is given up.

    >>> import asyncio
    >>> service = Service(Library([]), ServiceSettings())
    >>> asyncio.run(service.run(sum, [1, 2]))
    3
    """

    def __init__(self, library: Library, settings: ServiceSettings) -> None:
        """Start the threads."""
        self.library = library
        self.settings = settings
        self._threads = ThreadPoolExecutor(settings.workers, thread_name_prefix="lexfuse")

    async def run(self, call: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        """A call that blocks, on one of the threads; `OverloadError` if it takes too long.

        One that has begun goes on until it ends, since a thread cannot be stopped; how many may wait is limited elsewhere.
        """
        task = asyncio.get_running_loop().run_in_executor(self._threads, lambda: call(*args, **kwargs))
        try:
            answer = await asyncio.wait_for(task, self.settings.timeout_seconds)
        except TimeoutError:
            reason = f"not done within {self.settings.timeout_seconds:g} seconds; ask for less, or try again"
            raise OverloadError(reason, retry_after=5) from None
        notice(answer)
        return answer

    def close(self) -> None:
        """Wait for what runs, and let go of the library."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.library.close()
