"""Limits: how often one may ask, how much one may send, and how many are answered at once."""

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
from lexfuse.service.middleware.paths import is_exempt
from lexfuse.service.problems import send_problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from lexfuse.service.metrics import ServiceMetrics

_CHARSETS = frozenset({"utf-8", "ascii", "iso8859-1"})  # of a form; Python has some that fail on purpose, or take for ever
_DIGITS = 18  # of a length; Python refuses to read numbers of thousands
MOST_URLENCODED = 1_000_000  # bytes of a form whose values are percent-encoded: they are slow to read
MOST_SIGNS = 100_000  # colons, and brackets of a kind, of a JSON body: as many fields and lists take a third of a second to read
MAX_INCOMPLETE_BODIES = 256
MAX_INCOMPLETE_BYTES = 256_000_000  # of these bodies together
MOST_BUCKETS = 20_000  # a few megabytes; the one that was longest unused goes first


@dataclass(slots=True)
class RateLimiter:
    """A bucket of tokens for each who asks, filled at a steady rate up to `burst`; each request takes one token.

    Used by one thread, that of the event loop.

    >>> buckets = RateLimiter(per_minute=60, burst=2, clock=lambda: 0.0)
    >>> [buckets.wait("a"), buckets.wait("a"), buckets.wait("a"), buckets.wait("b")]
    [0.0, 0.0, 1.0, 0.0]
    """

    per_minute: int  # 0 = no limit
    burst: int
    clock: Callable[[], float] = time.monotonic
    most: int = MOST_BUCKETS
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)  # tokens, and when they were counted

    def wait(self, name: str) -> float:
        """Take a token; 0 if there was one, else the seconds until there is one.

        >>> RateLimiter(per_minute=0, burst=1).wait("a")
        0.0
        """
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
        """Take a token, or refuse with the seconds to wait.

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
    """Whose bucket an address takes from: its own, or that of its /64 network, all of which one IPv6 client has.

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


class InFlightLimit:
    """Answers so many requests at once, and refuses the others at once: waiting longer would help nobody.

    A request counts once its body is complete, so slow bodies do not block other requests. Incomplete bodies are limited in
    number and in total bytes; beyond that, the oldest is rejected.

    >>> InFlightLimit(app=None, most=2).running
    0
    """

    def __init__(self, app: ASGIApp, most: int, metrics: ServiceMetrics | None = None) -> None:
        """Let at most so many through."""
        self.app = app
        self.most = most
        self.metrics = metrics
        self.running = 0
        self.bodies = _ArrivingBodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse; health and static files are answered always."""
        if scope["type"] != "http" or is_exempt(scope):
            await self.app(scope, receive, send)
            return
        try:
            receive = await self.bodies.complete(receive)
        except TimeoutError:
            if self.metrics:
                self.metrics.refused.labels("body").inc()
            reason = "the body arrived too slowly while many others were arriving; send it again, faster"
            await send_problem(OverloadError(reason, retry_after=1), scope, receive, send)
            return
        if self.running >= self.most:
            if self.metrics:
                self.metrics.refused.labels("overload").inc()
            reason = f"{self.running} requests are being answered, which is the limit; try again in a second"
            await send_problem(OverloadError(reason, retry_after=1), scope, receive, send)
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


class BodyLimit:
    """Refuses a body above the limit: by its declared length, or, where none is declared, as soon as too much has come.

    One that does not come to its end in time is refused too: it would hold one of the places that there are. So is a form in an
    encoding that only Python has, such as ``undefined`` and ``punycode``, which fails or takes time without bound.

    >>> BodyLimit(app=None, most=10, seconds=30).most
    10
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float, metrics: ServiceMetrics | None = None) -> None:
        """Let bodies of at most so many bytes through, that come within so many seconds."""
        self.app = app
        self.most = most
        self.seconds = seconds
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
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
            if self.metrics:
                self.metrics.refused.labels("body").inc()
            await send_problem(body.refusal, scope, receive, send)


def readable(content_type: str) -> bool:
    """Whether a body of a type has a charset that is read: UTF-8, Latin-1, ASCII, or none.

    >>> readable("multipart/form-data; boundary=x; charset=UTF8"), readable("multipart/form-data; boundary=x; charset=undefined")
    (True, False)
    """
    charset = parse_options_header(content_type)[1].get(b"charset", b"utf-8")
    try:
        return codecs.lookup(charset.decode("latin-1")).name in _CHARSETS
    except (LookupError, ValueError):
        return False


class _CountedBody:
    """A body that ends with an error where it is too large or too late; what the application makes of that error is not sent.

    The framework turns an error while a body is read into an answer of its own, "400 could not be parsed", which would
    tell the caller the wrong thing.
    """

    def __init__(self, most: int, seconds: float, receive: Receive, send: Send, *, plain: bool) -> None:
        self.most = most
        self.signs = dict.fromkeys(() if plain else (b":", b"{", b"["), 0)  # those of JSON; a form has none that mean anything
        self.seconds = seconds
        self.came = 0
        self.complete = False
        self.refusal: LimitError | None = None
        self.started = False
        self._receive = receive
        self._send = send
        self._due = time.monotonic() + seconds

    async def receive(self) -> Message:
        if self.complete:  # whoever asks now waits for the client to leave, which may take as long as the answer
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
