"""Security headers of every response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.service.middleware.http_middleware import STATIC, HttpMiddleware

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send


NOT_KEPT = "no-store"  # responses contain questions, which must not stay on the disk of a shared computer
KEPT_FOR_EVER = "public, max-age=31536000, immutable"
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


class SecurityHeaders(HttpMiddleware):
    """Adds the headers to every response; a header that the application has set stays."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the headers."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name for name, _ in message["headers"]}
                versioned = scope["path"].startswith(STATIC) and message["status"] == 200
                wanted = HEADERS | {"cache-control": KEPT_FOR_EVER if versioned else NOT_KEPT}
                added = [(name.encode(), value.encode()) for name, value in wanted.items() if name.encode() not in there]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self.app(scope, receive, with_headers)
