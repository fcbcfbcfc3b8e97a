"""Security headers of every response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.service.middleware.origin import KEPT_FOR_EVER, NOT_KEPT
from lexfuse.service.middleware.paths import STATIC

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    # No referrer to other sites, which would reveal questions. Not no-referrer: browsers then send "Origin: null" with the page's
    # own forms, which without HTTPS, hence without Sec-Fetch-Site, look like those of other sites.
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class SecurityHeaders:
    """Adds the headers to every response; a header that the application has set stays."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name for name, _ in message["headers"]}
                versioned = scope["path"].startswith(STATIC) and message["status"] == 200
                wanted = HEADERS | {"cache-control": KEPT_FOR_EVER if versioned else NOT_KEPT}
                added = [(name.encode(), value.encode()) for name, value in wanted.items() if name.encode() not in there]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self.app(scope, receive, with_headers)
