"""Limits of connections: how many may be open, and how long a client may keep the service waiting.

Every connection holds a file descriptor, and so do index files, models and uploads. Connections therefore get a share of the
descriptors. When it is used up, the connection that has kept the service waiting longest is closed for the next one, so idle
connections do not block new ones.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from lexfuse.service.logs import log

RESERVED = 64  # descriptors for index files, models and uploads, beyond those that are open at the start
LEAST_READ = 16_384  # bytes of a long response that a client must read within `ConnectionLimits.seconds`
SMALL_CHUNK, MOST_SMALL_CHUNKS = 64, 1000  # bytes of a chunk of a body, and how many smaller ones are allowed
_HEAD = 65_536  # bytes, if the server sets no limit
REPORTED = 60.0  # seconds between two log lines about the same problem


def raise_descriptor_limit() -> int:
    """Raise the limit of file descriptors as far as allowed, and return how many are free.

    >>> raise_descriptor_limit() > 0
    True
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # some systems report no limit although they have one
        hard = soft
    opened = len(os.listdir("/dev/fd"))
    return (2**20 if hard == resource.RLIM_INFINITY else hard) - opened


def accepted_at_once(descriptors: int) -> int:
    """How many connections are accepted at once, before the first is handled.

    >>> accepted_at_once(20_000), accepted_at_once(100)
    (100, 12)
    """
    return max(8, min(100, descriptors // 8))


def connections_of(wanted: int, descriptors: int) -> int:
    """How many connections may be open: `wanted`, if that leaves enough descriptors.

    >>> connections_of(1000, 20_000), connections_of(1000, 900), connections_of(1000, 50)
    (1000, 736, 17)
    """
    reserved = min(RESERVED, descriptors // 2)  # of few descriptors, connections get half
    return max(1, min(wanted, descriptors - reserved - accepted_at_once(descriptors)))


@dataclass(slots=True)
class Reports:
    """Problems that were logged: one line a minute for each, however often it occurs.

    >>> reports = Reports(clock=lambda: 0.0)
    >>> [reports.due("accept"), reports.due("accept"), reports.due("connections")]
    [True, False, True]
    """

    clock: Callable[[], float] = time.monotonic
    _last: dict[str, float] = field(default_factory=dict)

    def due(self, what: str) -> bool:
        """Whether to log a problem now."""
        now = self.clock()
        if now - self._last.get(what, -REPORTED) < REPORTED:
            return False
        self._last[what] = now
        return True

    def loop_failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle errors of asyncio, which reports every connection that it cannot accept."""
        error = context.get("exception")
        if "socket" not in context or not isinstance(error, OSError):
            loop.default_exception_handler(context)
        elif self.due("accept"):
            log.error(
                "no connection can be accepted; raise the limit of open files", extra={"fields": {"reason": error.strerror}}
            )


@dataclass(slots=True)
class ConnectionLimits:
    """Limits and state that the connections of one server share."""

    most: int
    seconds: float  # a client may keep the service waiting
    reports: Reports = field(default_factory=Reports)
    waiting: dict[Connection, None] = field(default_factory=dict)  # connections that do, longest first


class _Messages(h11.Connection):
    """Refuses bodies in many tiny chunks, each of which costs as much to read as a large one."""

    chunks = 0
    chunked = 0  # bytes

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.chunks = self.chunked = 0
        elif isinstance(event, h11.Data):
            self.chunks += 1
            self.chunked += len(event.data)
            if self.chunks > MOST_SMALL_CHUNKS + self.chunked // SMALL_CHUNK:
                raise h11.RemoteProtocolError("the chunks of the body are too small")
        return event


class Connection(H11Protocol):
    """A connection whose client has limited time to send a head, to read the response and to send the next request.

    The time counts from the connection or the previous response; single bytes do not extend it. A long response may take
    longer, as long as the client reads it. `BodyLimit` limits the time of a body.
    """

    def __init__(self, *args: Any, limits: ConnectionLimits, **values: Any) -> None:
        """Start without a request."""
        super().__init__(*args, **values)
        self.conn = _Messages(h11.SERVER, self.config.h11_max_incomplete_event_size or _HEAD)
        self.limits = limits
        self._timer: asyncio.TimerHandle | None = None
        self._unread = 0  # bytes of the answer, when the client began to keep the service waiting

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection; if there are too many, close the one that has waited longest."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.limits.most:
            if self.limits.reports.due("connections"):
                log.warning(
                    "the limit of connections is reached; those that wait are closed",
                    extra={"fields": {"most": self.limits.most}},
                )
            next(iter(self.limits.waiting)).cut()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data; the timer runs until the head is complete."""
        super().data_received(data)
        if not self._kept_waiting:
            self._stop()

    def on_response_complete(self) -> None:
        """Restart the timer, unless the next request has arrived."""
        super().on_response_complete()
        if self._kept_waiting:
            self._wait()

    def pause_writing(self) -> None:
        """Start the timer until the client reads on."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """Stop the timer, or start it until the next request."""
        super().resume_writing()
        if self._kept_waiting:
            self._wait()
        else:
            self._stop()

    def send_400_response(self, msg: str) -> None:
        """Refuse invalid HTTP; once a response has started, cut the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.cut()

    def cut(self) -> None:
        """Close the connection at once, and discard unread data instead of keeping it in the kernel."""
        self._stop()
        if (connection := self.transport.get_extra_info("socket")) is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    @property
    def _kept_waiting(self) -> bool:
        """Whether it is the client's turn."""
        answering = self.cycle is not None and not self.cycle.response_complete
        return not answering or self.flow.write_paused or self.transport.is_closing()

    def _wait(self) -> None:
        self._stop()
        self.limits.waiting[self] = None
        self._unread = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.limits.seconds, self._late)

    def _stop(self) -> None:
        self.limits.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        if 0 < self.transport.get_write_buffer_size() <= self._unread - LEAST_READ:
            self._wait()
        else:
            self.cut()
