"""The Model Context Protocol over HTTP: one address, with the keys, limits and log of the service.

Requests are independent of each other and are answered with JSON ("streamable HTTP" without sessions and streams), so that
a proxy may send them to any of several servers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from lexfuse.service.api_keys import KeyRing
from lexfuse.service.context import ServiceContext
from lexfuse.service.mcp.server import McpServer
from lexfuse.service.metrics import ServiceMetrics
from lexfuse.service.middleware import add_middleware
from lexfuse.service.problems import add_allowed, add_problems

PATH = "/mcp"


def create_mcp_app(service: ServiceContext) -> Starlette:
    """The application that answers requests of the protocol at ``/mcp``, each by POST.

    >>> from lexfuse.service.registry import IndexRegistry
    >>> from lexfuse.service.settings import ServiceSettings
    >>> [route.path for route in create_mcp_app(ServiceContext(IndexRegistry([]), ServiceSettings())).routes]
    ['/mcp']
    """
    settings = service.settings
    sessions = StreamableHTTPSessionManager(
        McpServer(service).server(), json_response=True, stateless=True, max_request_body_size=settings.max_body_bytes
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            try:
                yield
            finally:
                service.close()

    # Only POST: without sessions there is no stream to open by GET, which would keep a place among the running requests.
    app = Starlette(routes=[Route(PATH, StreamableHTTPASGIApp(sessions), methods=["POST"])], lifespan=lifespan)
    app.state.service = service
    add_problems(app)
    add_allowed(app)
    add_middleware(app, settings, KeyRing(settings.keys), ServiceMetrics())
    return app
