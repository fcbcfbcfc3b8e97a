"""The server: one process that listens, reports when it is ready, and shuts down in order.

Connections, limits and metrics belong to this process alone, and it decides which version of an index answers. Others may search
for it (`lexfuse.service.search_processes`).
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
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import WARM_QUESTION
from lexfuse.service.tls import tls_context

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

    from lexfuse.service.registry import IndexRegistry
    from lexfuse.service.settings import ServiceSettings


_ENCODED = 12  # percent-encoded length of one character
_HEADERS = 65_536
_GRACE = 2.0  # seconds after `shutdown_seconds`
_ANY = {"0.0.0.0": "localhost", "::": "localhost"}  # noqa: S104 - shown as a name that a browser can open


def listening(host: str, port: int) -> socket.socket:
    """A bound socket. It is bound before anything is loaded, so that errors of the address are reported at once.

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
        bound.listen(socket.SOMAXCONN)  # only this fails for a port in use
    except OSError as error:
        bound.close()
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot listen on port {port} of {host}: {reason}; choose another port, 0 takes a free one") from None
    return bound


def address(bound: socket.socket, host: str, scheme: str = "http") -> str:
    """The address of the service for browsers.

    >>> with listening("127.0.0.1", 0) as bound:
    ...     address(bound, "0.0.0.0").rpartition(":")[0]
    'http://localhost'
    """
    name = _ANY.get(host, host)
    return f"{scheme}://{f'[{name}]' if ':' in name else name}:{bound.getsockname()[1]}"


def serve(
    app: ASGIApp,
    settings: ServiceSettings,
    bound: socket.socket,
    ready: Callable[[str], None],
    prepare: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests until SIGTERM or Ctrl-C.

    When it listens, `prepare` is called in a thread, and then `ready` once, with the address.
    """
    context = tls_context(settings.tls_certificate, settings.tls_key)
    descriptors = raise_descriptor_limit()
    limits = ConnectionLimits(connections_of(settings.max_connections, descriptors), settings.header_seconds)
    config = uvicorn.Config(
        app,
        http=partial(Connection, limits=limits),  # type: ignore[arg-type]  # any callable works
        loop="asyncio",  # also where uvloop is installed for others
        backlog=accepted_at_once(descriptors),
        log_config=None,
        access_log=False,  # it would log the address, which contains the question
        server_header=False,
        proxy_headers=False,  # `client_header` names the trusted header
        ws="none",
        lifespan="on",
        h11_max_incomplete_event_size=_HEADERS + _ENCODED * settings.max_query_characters,  # the longest question fits
        timeout_graceful_shutdown=math.ceil(settings.shutdown_seconds),
    )
    config.load()
    config.ssl = context
    url = address(bound, settings.host, "https" if context else "http")
    with _quiet_signals():
        server = _Server(config, settings, limits, prepare, lambda: ready(url))
        server.run([bound])
    if server.failure:
        raise server.failure


class _Server(uvicorn.Server):
    """Prepares after it listens, so that /healthz answers in the meantime, and always ends."""

    def __init__(
        self,
        config: uvicorn.Config,
        settings: ServiceSettings,
        limits: ConnectionLimits,
        prepare: Callable[[], None],
        ready: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._seconds = settings.shutdown_seconds
        self._limits = limits
        self._prepare, self._ready = prepare, ready
        self._preparation: asyncio.Task[None] | None = None
        self.failure: Exception | None = None  # why the service did not become ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._limits.reports.loop_failed)
        if self.config.ssl:  # a client has as much time for the handshake as for a head; the server offers no such option
            loop.create_server = partial(loop.create_server, ssl_handshake_timeout=self._limits.seconds)  # type: ignore[method-assign]
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(socket.SOMAXCONN)  # the backlog uses no descriptors
        self._preparation = asyncio.create_task(self._prepared())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._preparation:
            self._preparation.cancel()
        ending = threading.Timer(self._seconds + _GRACE, _end)
        ending.daemon = True
        ending.start()
        await super().shutdown(sockets)
        ending.cancel()

    async def _prepared(self) -> None:
        try:
            await asyncio.to_thread(self._prepare)
            self._ready()
        except Exception as error:  # a caller waiting for the ready line would wait forever
            self.failure, self.should_exit = error, True


def _end() -> None:
    """End although a thread still works: reads change nothing, and a write is safe at any moment."""
    log.warning("ended with requests that were not done in time")
    os._exit(0)


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """Ignore the signals that the server raises again after its shutdown: they are no failure."""
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def prepare(app: FastAPI) -> None:
    """Warm up the indexes of an application; then /readyz says that it is ready."""
    warm_up(app.state.service.registry)
    app.openapi()  # by which query strings are checked; the first request would wait for it
    app.state.ready = True


def warm_up(registry: IndexRegistry) -> None:
    """Search every index once with its default profile and facets, which loads models and compiles loops.

    An index that cannot be searched does not stop the service; requests to it return the error.
    """
    for name in registry.names:
        try:
            search(registry, SearchQuery.model_validate({"query": WARM_QUESTION, "index": name, "facets": True}))
        except LexFuseError as error:
            log.error("an index could not be warmed up", exc_info=error, extra={"fields": {"index": name}})
