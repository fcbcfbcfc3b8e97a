"""The application: the routes of the API, errors as problems, and what stands around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from starlette.formparsers import MultiPartParser

from lexfuse import __version__
from lexfuse.service.api_keys import KeyRing
from lexfuse.service.context import ServiceContext
from lexfuse.service.logs import log
from lexfuse.service.metrics import ServiceMetrics
from lexfuse.service.middleware import add_middleware
from lexfuse.service.problems import MEDIA_TYPE, Problem, add_allowed, add_problems
from lexfuse.service.routes import ROUTERS
from lexfuse.service.schemas.base import without_examples

DESCRIPTION = """Find the law: search statutes and case law by words, vectors and citations, with every score explained.

Errors are RFC 9457 problems (`application/problem+json`). Cursors belong to one version of an index and one question."""
_PROBLEM = {MEDIA_TYPE: {"schema": Problem.model_json_schema()}}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "What was asked cannot be answered.", "content": _PROBLEM},
    "5XX": {"description": "The service failed.", "content": _PROBLEM},
}


class Application(FastAPI):
    """An application whose OpenAPI document describes things for those who call, without our docstrings' examples.

    >>> Application(title="Law").openapi()["info"]["title"]
    'Law'
    """

    def openapi(self) -> dict[str, Any]:
        """The document, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = without_examples(super().openapi())
        return dict(self.openapi_schema)


def create_app(service: ServiceContext) -> FastAPI:
    """The application of a service: the API alone; `lexfuse.web.routes.add_pages` adds the search page.

    >>> from lexfuse.service.registry import IndexRegistry
    >>> from lexfuse.service.settings import ServiceSettings
    >>> create_app(ServiceContext(IndexRegistry([]), ServiceSettings())).openapi()["openapi"]
    '3.1.0'
    """
    MultiPartParser.spool_max_size = 0  # an upload is bounded, and stays in memory: it needs no disk and leaves nothing there
    metrics, keys = ServiceMetrics(), KeyRing(service.settings.keys)
    metrics.watch(service.library)
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
        docs_url=None,  # the usual pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # the address would be made from the Host header, which anybody can write
        lifespan=lifespan,
        responses=_PROBLEMS,
    )
    app.state.service, app.state.metrics, app.state.keys = service, metrics, keys
    for router in ROUTERS:
        app.include_router(router)
    add_problems(app)
    add_allowed(app)
    add_middleware(app, service.settings, keys, metrics)
    return app


async def _watched(service: ServiceContext, metrics: ServiceMetrics) -> None:
    """Look for newer versions of the indexes, again and again."""
    seconds = service.settings.reload_seconds
    while seconds:
        await asyncio.sleep(seconds)
        try:
            metrics.reloaded(await asyncio.to_thread(service.library.refresh))  # not behind requests that wait for a thread
        except Exception as error:  # whatever it is, the version that is open goes on answering
            log.error("a newer version of an index could not be opened", exc_info=error)
