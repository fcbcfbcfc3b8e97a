"""Authentication by API keys, anonymous reading, and rate limits per key or address."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lexfuse.errors import AccessError, ForbiddenError, LexFuseError, LimitError
from lexfuse.service.api_keys import ApiKey, KeyRing
from lexfuse.service.api_keys import KeyScope as Allowed
from lexfuse.service.middleware.http_middleware import HttpMiddleware, header
from lexfuse.service.middleware.limits import RateLimiter, neighbourhood
from lexfuse.service.middleware.request_log import current_notes

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from lexfuse.service.metrics import ServiceMetrics
    from lexfuse.service.settings import ServiceSettings

CALLER = "caller"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller: a key, or an anonymous reader.

    >>> Caller(None, anonymous_read=True).allows(Allowed.READ), Caller(None, anonymous_read=True).allows(Allowed.WRITE)
    (True, False)
    """

    key: ApiKey | None
    anonymous_read: bool

    def allows(self, scope: Allowed) -> bool:
        """Whether the caller has a scope."""
        if self.key is None:
            return self.anonymous_read and scope is Allowed.READ
        return self.key.allows(scope)


def require(request: Request, scope: Allowed) -> Caller:
    """The caller, if it has a scope; otherwise `AccessError` without a key, or `ForbiddenError` with one.

    >>> from starlette.requests import Request
    >>> require(Request({"type": "http", "state": {CALLER: Caller(None, True)}}), Allowed.WRITE)
    Traceback (most recent call last):
    ...
    lexfuse.errors.AccessError: a key that allows to write is needed; send it as Authorization: Bearer lf_…
    """
    caller = getattr(request.state, CALLER, None) or Caller(None, anonymous_read=False)
    if not caller.allows(scope):
        raise _refusal(caller, scope)
    return caller


def may_judge(request: Request) -> bool:
    """Whether the caller may judge results: with a key of the scope write, or if anonymous judging is allowed."""
    caller = getattr(request.state, CALLER, None)
    allowed = caller is not None and caller.allows(Allowed.WRITE)
    return allowed or bool(request.app.state.service.settings.anonymous_judging)


def require_feedback_scope(request: Request) -> None:
    """Refuse callers that may not judge."""
    if not may_judge(request):
        require(request, Allowed.WRITE)


def _refusal(caller: Caller, scope: Allowed) -> AccessError:
    if caller.key is None:
        return AccessError(f"a key that allows to {scope} is needed; send it as Authorization: Bearer lf_…")
    return ForbiddenError(f"the key {caller.key.name!r} does not allow to {scope}; use one that does")


def token_of(scope: Scope) -> str:
    """The key of a request: ``Authorization: Bearer``, ``X-API-Key``, or the password of HTTP Basic.

    >>> token_of({"headers": [(b"authorization", b"Bearer lf_x")]}), token_of({"headers": [(b"x-api-key", b"lf_y")]})
    ('lf_x', 'lf_y')
    """
    method, _, value = header(scope, "authorization").strip().partition(" ")
    if method.lower() == "bearer":
        return value.strip()
    if method.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, ValueError):
            return "unreadable"  # not empty, so that it is refused as an unknown key
    return header(scope, "x-api-key").strip()


class ApiKeyMiddleware(HttpMiddleware):
    """Identifies callers, limits their requests, and requires the scope read; routes that write call `require`."""

    checks_all = False

    def __init__(self, app: ASGIApp, settings: ServiceSettings, keys: KeyRing, metrics: ServiceMetrics) -> None:
        """Wrap an application."""
        super().__init__(app, metrics)
        self.settings = settings
        self.keys = keys
        self.buckets = RateLimiter(settings.requests_per_minute, settings.burst)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        try:
            caller = self._admitted(scope)
        except LexFuseError as error:
            await self.refuse(error, "rate" if isinstance(error, LimitError) else "key", scope, receive, send)
            return
        scope.setdefault("state", {})[CALLER] = caller
        await self.app(scope, receive, send)

    def _admitted(self, scope: Scope) -> Caller:
        """The caller; unknown keys count against the address, which makes guessing slow."""
        token = token_of(scope)
        key = self.keys.find(token) if token else None
        if key:
            current_notes().key = key.name
        self.buckets.take(f"key {key.name}" if key else f"address {neighbourhood(self._address(scope))}")
        if token and key is None:
            raise AccessError("this key is not known; it may have been revoked")
        caller = Caller(key, self.settings.anonymous_read)
        if not caller.allows(Allowed.READ):
            raise _refusal(caller, Allowed.READ)
        return caller

    def _address(self, scope: Scope) -> str:
        """The client's address: the last one in the header of a trusted proxy, or that of the connection."""
        forwarded = header(scope, self.settings.client_header) if self.settings.client_header else ""
        nearest = forwarded.rpartition(",")[2].strip()
        client = scope.get("client")
        return nearest if neighbourhood(nearest) else (client[0] if client else "")
