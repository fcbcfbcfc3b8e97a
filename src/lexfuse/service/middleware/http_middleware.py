"""What layers of the service share: requests that need no key, headers, and how a request is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from lexfuse.service.problems import send_problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from lexfuse.service.metrics import ServiceMetrics

HEALTH = ("/healthz", "/readyz")
STATIC = "/static/"


def is_exempt(scope: Mapping[str, Any]) -> bool:
    """Whether a request is for a health check or a static file.

    >>> is_exempt({"path": "/healthz"}), is_exempt({"path": "/static/page.css"}), is_exempt({"path": "/v1/search"})
    (True, True, False)
    """
    path = str(scope["path"])
    return path in HEALTH or path.startswith(STATIC)


def header(scope: Mapping[str, Any], name: str) -> str:
    """The last value of a header, which the nearest proxy wrote, or an empty text.

    >>> header({"headers": [(b"host", b"law.example")]}, "Host")
    'law.example'
    """
    wanted = name.lower().encode("latin-1", "replace")
    values = [value for key, value in scope["headers"] if key == wanted]
    return values[-1].decode("latin-1") if values else ""


class HttpMiddleware:
    """A layer that answers HTTP requests by `answer`; health checks and static files pass where `checks_all` is off."""

    checks_all: ClassVar[bool] = True

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        """Wrap an application; refused requests are counted."""
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        passes = scope["type"] != "http" or (is_exempt(scope) and not self.checks_all)
        await (self.app if passes else self.answer)(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an HTTP request."""
        await self.app(scope, receive, send)

    async def refuse(self, error: Exception, reason: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with an error, and count it under a reason."""
        self.metrics.refused.labels(reason).inc()
        await send_problem(error, scope, receive, send)
