"""An HTTP request on its way from the gateway to a router, and the response on its way back, both whole.

No route of the service streams its response, so a router sends all of it at once. The gateway therefore has sent nothing to the
client when a router is lost, and can ask another one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_FIELDS = (
    "type",
    "http_version",
    "method",
    "scheme",
    "path",
    "raw_path",
    "query_string",
    "root_path",
    "headers",
    "client",
    "server",
)


class RoutedRequest(NamedTuple):
    """A request: the fields of its ASGI scope that can travel, and its body."""

    scope: dict[str, Any]
    body: bytes

    @classmethod
    async def read(cls, scope: Scope, receive: Receive) -> RoutedRequest:
        """The request that a server hands to an application; an error if the client disconnects before its end."""
        from starlette.requests import Request  # as the application reads it

        body = await Request(scope, receive).body()
        return cls({name: scope[name] for name in _FIELDS if name in scope}, body)


class RoutedResponse(NamedTuple):
    """A response."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @classmethod
    async def of(cls, app: ASGIApp, request: RoutedRequest) -> RoutedResponse:
        """The response of an application.

        >>> from starlette.responses import PlainTextResponse
        >>> request = RoutedRequest({"type": "http", "method": "GET", "path": "/"}, b"")
        >>> asyncio.run(RoutedResponse.of(PlainTextResponse("law"), request)).body
        b'law'
        """
        unread = [{"type": "http.request", "body": request.body, "more_body": False}]
        start: Message = {}
        body: list[bytes] = []

        async def receive() -> Message:
            if not unread:
                await asyncio.Event().wait()  # the client does not disconnect
            return unread.pop()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                body.append(message.get("body", b""))

        await app({**request.scope, "asgi": {"version": "3.0"}}, receive, send)
        headers = [(bytes(name), bytes(value)) for name, value in start["headers"]]
        return cls(start["status"], headers, b"".join(body))

    async def send(self, send: Send) -> None:
        """Send it to the client."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})
