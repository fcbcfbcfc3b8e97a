"""A router: the application of ``lexfuse serve``, with its pages and keys, over the shards of a cluster."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from lexfuse.cluster.store import ClusterStore
from lexfuse.deployment.cluster_source import ClusterSource, ShardGroup
from lexfuse.deployment.ray_shards import EventLoop, ShardLimits
from lexfuse.deployment.shard_metrics import ShardMetrics
from lexfuse.deployment.shard_replica import KEPT
from lexfuse.errors import OverloadError
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.http_server import warm_up
from lexfuse.service.logs import configure_logs, log
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.web.routes import add_pages

_PAUSE = 0.5  # seconds between two attempts to reach the shards


class Router:
    """A replica of the router; Ray Serve hands it the requests of clients."""

    def __init__(self, uri: str, limits: ShardLimits, settings: ServiceSettings, handles: list[Any]) -> None:
        """Keep what the application is made of; `build` makes it."""
        self._uri, self._limits, self._settings, self._handles = uri, limits, settings, handles

    def build(self) -> FastAPI:
        """The application, ready to answer: every shard has opened the published generation and was searched once."""
        configure_logs()
        metrics = ShardMetrics()
        group = ShardGroup(ClusterStore(self._uri), self._handles, self._limits, EventLoop(), metrics)
        usual = IndexPlace.of(Path(self._uri.rpartition("/")[2].removesuffix(".cluster") or "cluster"))
        registry = self._opened(IndexPlace(usual.name, ClusterSource(usual.name, group), usual.title))
        app = create_app(ServiceContext(registry, self._settings))
        add_pages(app)
        metrics.register(app.state.metrics.registry)
        warm_up(registry)
        app.openapi()
        app.state.ready = True
        return app

    def _opened(self, place: IndexPlace) -> IndexRegistry:
        """The registry, as soon as every shard has a replica; Ray Serve starts all deployments at the same time."""
        while True:
            try:
                return IndexRegistry.open([place], self._settings.profiles, kept=KEPT)  # as many as replicas keep
            except OverloadError as error:
                log.info("waiting for shards", extra={"fields": {"reason": str(error)}})
                time.sleep(_PAUSE)

    async def __serve_build_asgi_app__(self) -> FastAPI:
        """The application, made in a thread: it waits for answers of shards."""
        return await asyncio.to_thread(self.build)
