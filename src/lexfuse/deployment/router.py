"""A router: the application of ``lexfuse serve``, with its pages and keys, over the shards of a cluster."""

from __future__ import annotations

import asyncio
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from lexfuse.cluster.store import ClusterStore
from lexfuse.deployment.cluster_source import ClusterSource, ShardGroup
from lexfuse.deployment.ray_shards import EventLoop, ShardLimits
from lexfuse.deployment.routed_request import RoutedRequest, RoutedResponse
from lexfuse.deployment.shard_metrics import ShardMetrics
from lexfuse.deployment.shard_replica import KEPT
from lexfuse.errors import OverloadError
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.http_server import prepare
from lexfuse.service.logs import configure_logs, log
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.web.routes import add_pages

_PAUSE = 0.5  # seconds between two attempts to reach the shards


class Router:
    """A replica of the router; the gateway hands it the requests of clients."""

    async def __init__(self, uri: str, limits: ShardLimits, settings: ServiceSettings, handles: list[Any]) -> None:  # type: ignore[misc]
        """Make the application in a thread, because it waits for answers of shards; Ray Serve awaits it."""
        self._uri, self._limits, self._settings, self._handles = uri, limits, settings, handles
        self._app = await asyncio.to_thread(self._build)
        self._lifespan = self._app.router.lifespan_context(self._app)
        await self._lifespan.__aenter__()

    async def answer(self, request: RoutedRequest) -> RoutedResponse:
        """The response to a request."""
        return await RoutedResponse.of(self._app, request)

    def generations(self) -> list[int]:
        """The number of the generation that is searched."""
        registry = self._app.state.service.registry
        return [registry.index(name).generation for name in registry.names]

    def metrics(self) -> tuple[str, str]:
        """The name of this router, and its metrics in the text format of Prometheus."""
        name = import_module("ray.serve").get_replica_context().replica_id.unique_id
        return name, self._app.state.metrics.text().decode()

    async def __del__(self) -> None:
        """Close the index; Ray Serve calls it, before it ends the process."""
        await self._lifespan.__aexit__(None, None, None)

    def _build(self) -> FastAPI:
        """The application, ready to answer: every shard has opened the published generation and was searched once."""
        configure_logs()
        metrics = ShardMetrics()
        group = ShardGroup(ClusterStore(self._uri), self._handles, self._limits, EventLoop(), metrics)
        usual = IndexPlace.of(Path(self._uri.rpartition("/")[2].removesuffix(".cluster") or "cluster"))
        registry = self._opened(IndexPlace(usual.name, ClusterSource(usual.name, group), usual.title))
        app = create_app(ServiceContext(registry, self._settings))
        add_pages(app)
        metrics.register(app.state.metrics.registry)
        prepare(app)
        return app

    def _opened(self, place: IndexPlace) -> IndexRegistry:
        """The registry, as soon as every shard has a replica; Ray Serve starts all deployments at the same time."""
        while True:
            try:
                return IndexRegistry.open([place], self._settings.profiles, kept=KEPT)  # as many as replicas keep
            except OverloadError as error:
                log.info("waiting for shards", extra={"fields": {"reason": str(error)}})
                time.sleep(_PAUSE)
