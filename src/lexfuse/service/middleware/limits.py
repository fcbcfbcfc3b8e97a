"""Limits of request rates, of body sizes, and of concurrent requests."""

from __future__ import annotations

import asyncio
import codecs
import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from python_multipart.multipart import parse_options_header  # as forms are read, so that both see the same charset

from lexfuse.errors import ConfigError, LimitError, OverloadError, TooLargeError
from lexfuse.service.middleware.http_middleware import HttpMiddleware
from lexfuse.service.problems import send_problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from lexfuse.service.metrics import ServiceMetrics

_CHARSETS = frozenset({"utf-8", "ascii", "iso8859-1"})  # of a form; some codecs of Python fail on purpose or take unbounded time
_DIGITS = 18  # of a length; Python refuses to parse thousands of digits
MOST_URLENCODED = 1_000_000  # bytes of a percent-encoded form, which is slow to parse
MOST_SIGNS = 100_000  # colons, or brackets of one kind, in a JSON body; this number takes a third of a second to parse
MAX_INCOMPLETE_BODIES = 256
MAX_INCOMPLETE_BYTES = 256_000_000  # of all incomplete bodies
MOST_BUCKETS = 20_000  # a few megabytes; the least recently used is dropped first


@dataclass(slots=True)
class RateLimiter:
    """A token bucket per caller, filled at a steady rate up to `burst`; each request takes one token.

    Only the thread of the event loop uses it.

    >>> buckets = RateLimiter(per_minute=60, burst=2, clock=lambda: 0.0)
    >>> [buckets.wait("a"), buckets.wait("a"), buckets.wait("a"), buckets.wait("b")]
    [0.0, 0.0, 1.0, 0.0]
    """

    per_minute: int  # 0 = no limit
    burst: int
    clock: Callable[[], float] = time.monotonic
    most: int = MOST_BUCKETS
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)  # tokens, and the time they were counted

    def wait(self, name: str) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        if not self.per_minute:
            return 0.0
        now, rate = self.clock(), self.per_minute / 60
        tokens, counted = self._buckets.pop(name, (float(self.burst), now))
        tokens = min(float(self.burst), tokens + (now - counted) * rate)
        taken = tokens >= 1
        self._buckets[name] = (tokens - 1 if taken else tokens, now)
        if len(self._buckets) > self.most:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1 - tokens) / rate

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, name: str) -> None:
        """Take a token, or raise `LimitError` with the seconds to wait.

        >>> buckets = RateLimiter(per_minute=60, burst=1, clock=lambda: 0.0)
        >>> buckets.take("a")
        >>> buckets.take("a")
        Traceback (most recent call last):
        ...
        lexfuse.errors.LimitError: 60 requests a minute are allowed, 1 at once; try again in 1 s
        """
        if waiting := self.wait(name):
            seconds = max(1, math.ceil(waiting))
            reason = f"{self.per_minute} requests a minute are allowed, {self.burst} at once; try again in {seconds} s"
            raise LimitError(reason, retry_after=seconds)


def neighbourhood(address: str) -> str:
    """The bucket of an address: the IPv4 address, or the /64 network, all of which one IPv6 client has.

    >>> neighbourhood("192.0.2.7"), neighbourhood("2001:db8::1:2"), neighbourhood("::ffff:192.0.2.7"), neighbourhood("?")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7', '')
    """
    try:
        parsed = ipaddress.ip_address(address.strip())
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))


class InFlightLimit(HttpMiddleware):
    """Limits concurrent requests; further ones are refused at once.

    A request counts once its body is complete, so slow bodies do not block other requests. Incomplete bodies are limited in
    number and in total bytes; beyond that, the oldest is rejected.
    """

    checks_all = False

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics, most: int) -> None:
        """Allow `most` concurrent requests."""
        super().__init__(app, metrics)
        self.most = most
        self.running = 0
        self.bodies = _ArrivingBodies()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse."""
        try:
            receive = await self.bodies.complete(receive)
        except TimeoutError:
            reason = "the body arrived too slowly while many others were arriving; send it again, faster"
            await self.refuse(OverloadError(reason, retry_after=1), "body", scope, receive, send)
            return
        if self.running >= self.most:
            reason = f"{self.running} requests are being answered, which is the limit; try again in a second"
            await self.refuse(OverloadError(reason, retry_after=1), "overload", scope, receive, send)
            return
        self.running += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.running -= 1


class _ArrivingBodies:
    """Incomplete request bodies, oldest first, each with the bytes received."""

    def __init__(self) -> None:
        self._coming: dict[asyncio.Timeout, int] = {}

    async def complete(self, receive: Receive) -> Receive:
        """Wait for the whole body and return a `receive` that replays it; `TimeoutError` if the body was rejected."""
        messages: list[Message] = []
        async with asyncio.timeout(None) as limit:
            self._coming[limit] = 0
            try:
                while not messages or messages[-1].get("more_body", False):
                    self._make_room()
                    messages.append(await receive())
                    self._coming[limit] += len(messages[-1].get("body", b""))
            finally:
                del self._coming[limit]
        again = iter(messages)

        async def replayed() -> Message:
            message = next(again, None)
            return await receive() if message is None else message

        return replayed

    def _make_room(self) -> None:
        bodies, size = len(self._coming), sum(self._coming.values())
        for limit, came in list(self._coming.items()):
            if bodies <= MAX_INCOMPLETE_BODIES and size <= MAX_INCOMPLETE_BYTES:
                return
            if not limit.expired():
                limit.reschedule(asyncio.get_running_loop().time())
            bodies, size = bodies - 1, size - came


class BodyLimit(HttpMiddleware):
    """Refuses bodies above the limit, by their declared length or as soon as too much has arrived.

    A body that is not complete in time is refused too, because it would occupy a slot. So is a form in an encoding that only
    Python has, such as ``undefined`` and ``punycode``, which fails or takes unbounded time.
    """

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics, most: int, seconds: float) -> None:
        """Allow bodies of `most` bytes that arrive within `seconds`."""
        super().__init__(app, metrics)
        self.most = most
        self.seconds = seconds

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        types = [value.decode("latin-1") for name, value in scope["headers"] if name == b"content-type"]
        if not all(map(readable, types)):
            await send_problem(ConfigError("the charset of the body cannot be read; send UTF-8"), scope, receive, send)
            return
        most = min(self.most, MOST_URLENCODED) if any("urlencoded" in one.lower() for one in types) else self.most
        declared = dict(scope["headers"]).get(b"content-length", b"")
        body = _CountedBody(most, self.seconds, receive, send, plain=any("form" in one.lower() for one in types))
        if declared.isdigit() and (len(declared) > _DIGITS or int(declared) > most):
            body.refusal = _too_large(most)
        else:
            try:
                await self.app(scope, body.receive, body.send)
            except LimitError as error:
                if error is not body.refusal:
                    raise
        if body.refusal and not body.started:
            await self.refuse(body.refusal, "body", scope, receive, send)


def readable(content_type: str) -> bool:
    """Whether the charset of a content type is UTF-8, Latin-1, ASCII, or not given.

    >>> readable("multipart/form-data; boundary=x; charset=UTF8"), readable("multipart/form-data; boundary=x; charset=undefined")
    (True, False)
    """
    charset = parse_options_header(content_type)[1].get(b"charset", b"utf-8")
    try:
        return codecs.lookup(charset.decode("latin-1")).name in _CHARSETS
    except (LookupError, ValueError):
        return False


class _CountedBody:
    """A body that raises an error if it is too large or too late; the application's response to that error is not sent.

    The framework answers errors while a body is read with "400 could not be parsed", which would mislead the caller.
    """

    def __init__(self, most: int, seconds: float, receive: Receive, send: Send, *, plain: bool) -> None:
        self.most = most
        self.signs = dict.fromkeys(() if plain else (b":", b"{", b"["), 0)  # of JSON only
        self.seconds = seconds
        self.came = 0
        self.complete = False
        self.refusal: LimitError | None = None
        self.started = False
        self._receive = receive
        self._send = send
        self._due = time.monotonic() + seconds

    async def receive(self) -> Message:
        if self.complete:  # a later call waits for the client to disconnect
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, self._due - time.monotonic()))
        except TimeoutError:
            self.refusal = OverloadError(f"the body did not come within {self.seconds:g} seconds; send it faster, or less")
            raise self.refusal from None
        self.complete = not message.get("more_body", False)
        piece = message.get("body", b"")
        self.came += len(piece)
        for sign in self.signs:
            self.signs[sign] += piece.count(sign)
        if self.came > self.most:
            self.refusal = _too_large(self.most)
        elif max(self.signs.values(), default=0) > MOST_SIGNS:
            self.refusal = TooLargeError(f"the body has more than {MOST_SIGNS:,} fields or lists, or as many colons; send less")
        if self.refusal:
            raise self.refusal
        return message

    async def send(self, message: Message) -> None:
        if self.refusal and not self.started:
            return
        self.started = True
        await self._send(message)


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(f"the body is larger than {most:,} bytes, which is the limit; send less")
