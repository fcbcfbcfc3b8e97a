"""Shards of a published cluster as deployments of Ray Serve, and a router in this process that asks them by their handles."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from lexfuse.cluster.store import ClusterStore
from lexfuse.deployment.cluster_source import ClusterSource, ShardGroup
from lexfuse.deployment.ray_shards import EventLoop, RayShards, ShardLimits
from lexfuse.deployment.shard_metrics import ShardMetrics
from lexfuse.deployment.shard_replica import ShardReplica
from lexfuse.encode.shared_encoders import SharedEncoders
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.index_version import IndexVersion

_LOOP = EventLoop()
_REPLICA_CORES = 0.1  # that a replica reserves: all share the cores of this machine
_PATIENCE = 300.0  # seconds that a shard may take: nothing is left out


class RoutedIndex(IndexReader):
    """A cluster that is searched by a router in this process."""

    def __init__(self, source: ClusterSource, encoders: SharedEncoders | None = None) -> None:
        """Open the published generation."""
        self._version = IndexVersion(source.snapshot(), None, encoders, name=source.name)

    @property
    def version(self) -> IndexVersion:
        """The state that is searched."""
        return self._version


class ServedShards:
    """The deployments of the shards of a cluster."""

    def __init__(self, store: ClusterStore, handles: list[Any]) -> None:
        """Take the handles by the number of the shard."""
        self.store, self.handles = store, handles

    def router(self, encoders: SharedEncoders | None = None) -> RoutedIndex:
        """A router with the usual limits."""
        group = ShardGroup(self.store, self.handles, ShardLimits(), _LOOP, ShardMetrics())
        return RoutedIndex(ClusterSource("bench", group), encoders)

    def client(self, hedge_seconds: float = 0.0) -> RayShards:
        """What a router asks the shards by; 0 seconds is no hedged request."""
        return RayShards(self.handles, self.store.published(), ShardLimits(_PATIENCE, hedge_seconds), _LOOP, ShardMetrics())


@contextmanager
def served(store: ClusterStore, *, replicas: int = 1, threads: int = 8) -> Iterator[ServedShards]:
    """Start replicas of every shard, each with some threads, and end them afterwards; Ray must be connected."""
    serve = import_module("ray.serve")
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    serve.start(proxy_location="Disabled")  # handles need no HTTP, and starting it may take longer than Serve waits
    names = [f"shard-{shard}" for shard in range(len(store.manifest().shards))]
    deployment = serve.deployment(
        ShardReplica,
        num_replicas=replicas,
        max_ongoing_requests=1000,
        ray_actor_options={"num_cpus": _REPLICA_CORES},
        logging_config={"enable_access_log": False},
    )
    try:
        handles = []
        for shard, name in enumerate(names):
            bound = deployment.options(name=name).bind(store.absolute_uri, shard, threads=threads)
            handles.append(serve.run(bound, name=name, route_prefix=None))
        yield ServedShards(store, handles)
    finally:
        for name in names:
            serve.delete(name)
