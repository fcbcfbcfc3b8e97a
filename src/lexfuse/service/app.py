"""The application: the routes of the API, problem responses and middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import Depends, FastAPI
from starlette.formparsers import MultiPartParser

from lexfuse import __version__
from lexfuse.service.api_keys import KeyRing
from lexfuse.service.context import ServiceContext
from lexfuse.service.logs import log
from lexfuse.service.metrics import ServiceMetrics
from lexfuse.service.middleware import add_middleware
from lexfuse.service.openapi import DESCRIPTION, RESPONSES, check_query_string, complete
from lexfuse.service.problems import add_allowed, add_problems
from lexfuse.service.routes import ROUTERS


class Application(FastAPI):
    """An application with the complete OpenAPI document of the service."""

    def openapi(self) -> dict[str, Any]:
        """The document, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = complete(super().openapi(), self.state.service.settings)
        return self.openapi_schema


def create_app(service: ServiceContext) -> FastAPI:
    """The application of a service, without pages; `lexfuse.web.routes.add_pages` adds them.

    >>> from lexfuse.service.registry import IndexRegistry
    >>> from lexfuse.service.settings import ServiceSettings
    >>> create_app(ServiceContext(IndexRegistry([]), ServiceSettings())).openapi()["openapi"]
    '3.1.0'
    """
    MultiPartParser.spool_max_size = 0  # uploads are bounded, so they stay in memory and leave nothing on disk
    metrics, keys = ServiceMetrics(), KeyRing(service.settings.keys)
    metrics.watch(service.registry)
    metrics.stuck.set_function(lambda: service.stuck)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(_watched(service, metrics))
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            service.close()

    app = Application(
        title=service.settings.title,
        version=__version__,
        summary="Legal search",
        description=DESCRIPTION,
        docs_url=None,  # they load scripts from other sites; `lexfuse.web` serves /docs
        redoc_url=None,
        redirect_slashes=False,  # the redirect would contain the Host header, which a client can forge
        lifespan=lifespan,
        responses=RESPONSES,
    )
    app.state.service, app.state.metrics, app.state.keys = service, metrics, keys
    for router in ROUTERS:
        app.include_router(router, dependencies=[Depends(check_query_string)])
    add_problems(app)
    add_allowed(app)
    add_middleware(app, service.settings, keys, metrics)
    return app


async def _watched(service: ServiceContext, metrics: ServiceMetrics) -> None:
    """Open newer versions of the indexes as they appear."""
    seconds = service.settings.reload_seconds
    while seconds:
        await asyncio.sleep(seconds)
        try:
            metrics.reloaded(await asyncio.to_thread(service.registry.refresh))  # not queued behind requests
        except Exception as error:  # the open version continues to answer
            log.error("a newer version of an index could not be opened", exc_info=error)
