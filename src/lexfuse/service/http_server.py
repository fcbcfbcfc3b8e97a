"""The server: one process that listens, says when it is ready, and ends in order.

One process, because it holds one set of memory maps, encoders and caches, and one version of each index that all readers see;
more would multiply the memory and could answer two pages of a ranking from two versions. Threads are enough: searching and
encoding run in compiled code that releases the interpreter's lock.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import uvicorn

from lexfuse.errors import ConfigError, LexFuseError
from lexfuse.service.connections import Connection, ConnectionLimits, accepted_at_once, connections_of, raise_descriptor_limit
from lexfuse.service.logs import log
from lexfuse.service.operations.search import SearchRequest, search
from lexfuse.service.registry import WARM_QUESTION

if TYPE_CHECKING:
    from fastapi import FastAPI

    from lexfuse.service.registry import IndexRegistry
    from lexfuse.service.settings import ServiceSettings


_ENCODED = 12  # characters that one character may become in an address
_HEADERS = 65_536
_GRACE = 2.0  # seconds after the bound of running requests
_ANY = {"0.0.0.0": "localhost", "::": "localhost"}  # noqa: S104 - shown as a name that a browser can open


def listening(host: str, port: int) -> socket.socket:
    """A socket that is bound, before anything is loaded: what is wrong with the address is told at once.

    >>> with listening("127.0.0.1", 0) as bound:
    ...     address(bound, "127.0.0.1")
    'http://127.0.0.1:...'
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"cannot listen on {host!r}: {error.strerror or error}; check host") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
        bound.listen(socket.SOMAXCONN)  # only now is a port that another listens on refused
    except OSError as error:
        bound.close()
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot listen on port {port} of {host}: {reason}; choose another port, 0 takes a free one") from None
    return bound


def address(bound: socket.socket, host: str) -> str:
    """Where a browser finds the service.

    >>> with listening("127.0.0.1", 0) as bound:
    ...     address(bound, "0.0.0.0").rpartition(":")[0]
    'http://localhost'
    """
    name = _ANY.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{bound.getsockname()[1]}"


def serve(app: FastAPI, settings: ServiceSettings, bound: socket.socket, ready: Callable[[str], None]) -> None:
    """Answer requests until the process is told to end (SIGTERM, Ctrl-C); `ready` is called once with the address.

    >>> serve(app, settings, listening("127.0.0.1", 0), print)  # doctest: +SKIP
    """
    descriptors = raise_descriptor_limit()
    limits = ConnectionLimits(connections_of(settings.max_connections, descriptors), settings.header_seconds)
    config = uvicorn.Config(
        app,
        http=partial(Connection, limits=limits),  # type: ignore[arg-type]  # it is called, whatever its type
        backlog=accepted_at_once(descriptors),
        log_config=None,
        access_log=False,  # it would write the whole address, with the question in it
        server_header=False,
        proxy_headers=False,  # `client_header` says which one to believe
        ws="none",
        lifespan="on",
        h11_max_incomplete_event_size=_HEADERS + _ENCODED * settings.max_query_characters,  # the longest question fits
        timeout_graceful_shutdown=math.ceil(settings.shutdown_seconds),
    )
    with _quiet_signals():
        server = _Server(config, app, settings, limits, lambda: ready(address(bound, settings.host)))
        server.run([bound])
    if server.failure:
        raise server.failure


class _Server(uvicorn.Server):
    """Warms the indexes up once it listens, so that it can say meanwhile that it is alive; and ends for sure."""

    def __init__(
        self, config: uvicorn.Config, app: FastAPI, settings: ServiceSettings, limits: ConnectionLimits, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._app = app
        self._seconds = settings.shutdown_seconds
        self._limits = limits
        self._ready = ready
        self._warming: asyncio.Task[None] | None = None
        self.failure: Exception | None = None  # why the service could not get ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._limits.reports.loop_failed)
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(socket.SOMAXCONN)  # how many wait outside is no matter of descriptors
        self._warming = asyncio.create_task(self._warmed())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._warming:
            self._warming.cancel()
        ending = threading.Timer(self._seconds + _GRACE, _end)
        ending.daemon = True
        ending.start()
        await super().shutdown(sockets)
        ending.cancel()

    async def _warmed(self) -> None:
        try:
            await asyncio.to_thread(warm_up, self._app.state.service.library)
            self._app.state.ready = True
            self._ready()
        except Exception as error:  # a caller waiting for the ready line would wait forever
            self.failure, self.should_exit = error, True


def _end() -> None:
    """End although a thread still computes an answer that nobody waits for: it only reads, and a write is safe at any moment."""
    log.warning("ended with requests that were not done in time")
    os._exit(0)


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """Being told to end is no failure: the server raises the signals again that it has obeyed, and here they do nothing."""
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def warm_up(library: IndexRegistry) -> None:
    """Search every index once by its default profile, with facets; models are read, and compiled loops are compiled.

    An index that cannot be searched does not keep the others from being served: its own requests tell what is wrong.

    >>> from lexfuse.service.registry import IndexRegistry
    >>> warm_up(IndexRegistry([]))
    """
    for name in library.names:
        try:
            search(library, SearchRequest(WARM_QUESTION, index=name, facets=True))
        except LexFuseError as error:
            log.error("an index could not be warmed up", exc_info=error, extra={"told": {"index": name}})
