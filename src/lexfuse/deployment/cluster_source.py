"""A cluster as the source of an index: each state is one generation, on which every request stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexfuse.cluster.cluster_manifest import generation_number
from lexfuse.cluster.cluster_snapshot import ClusterSnapshot
from lexfuse.cluster.local_copy import LocalCopies, copies_folder
from lexfuse.cluster.statistics import load_distributions, load_statistics
from lexfuse.cluster.store import ClusterStore, Published
from lexfuse.deployment.ray_shards import EventLoop, RayShards, ShardLimits
from lexfuse.deployment.shard_metrics import ShardMetrics
from lexfuse.errors import ConfigError, DataError, OverloadError
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_source import IndexSource
from lexfuse.storage.snapshot import Snapshot

PREPARED_SECONDS = 3600.0  # in which replicas fetch and open a generation


@dataclass(frozen=True, slots=True)
class ShardGroup:
    """The deployments of the shards of a cluster, as a router reaches them."""

    store: ClusterStore
    handles: Sequence[Any]  # of Serve deployments, by the number of the shard
    limits: ShardLimits
    loop: EventLoop
    metrics: ShardMetrics

    def client(self, published: Published) -> RayShards:
        """The shards of one generation, which every replica has opened."""
        for shard, handle in enumerate(self.handles):
            try:
                handle.broadcast("prepare", published).results(timeout_s=PREPARED_SECONDS)
            except Exception as error:  # many classes: no replica yet, one that was lost, one that cannot read the store
                reason = (str(error).strip() or type(error).__name__).split("\n", 1)[0]
                raise OverloadError(f"shard {shard} cannot open {published.generation}: {reason}", retry_after=1) from error
        return RayShards(self.handles, published, self.limits, self.loop, self.metrics)


class ClusterSource(IndexSource):
    """The generations of a cluster; a newer one takes over when every replica of every shard has opened it."""

    folder = None

    def __init__(self, name: str, group: ShardGroup, cache: Path | None = None) -> None:
        """Open nothing yet."""
        self.name, self._group, self._store = name, group, group.store
        self._copies = LocalCopies(self._store, copies_folder(self._store.uri, "router", cache))

    def snapshot(self, former: Snapshot | None = None) -> Snapshot:
        """The published generation, opened by every replica."""
        published = self._store.published()
        manifest = self._store.manifest(published)
        if len(manifest.shards) != len(self._group.handles):
            raise DataError(
                f"the generation {manifest.generation} has {len(manifest.shards)} shards, {len(self._group.handles)} are served; "
                "start the service again",
                path=self._store.uri,
            )
        folder = self._copies.statistics(manifest)
        statistics, known = load_statistics(folder), load_distributions(folder)
        client, number = self._group.client(published), generation_number(manifest.generation)
        return ClusterSnapshot(client, statistics, name=self.name, generation=number, distributions=known)

    def generation(self) -> int:
        """The number of the published generation."""
        return generation_number(self._store.current())

    def writer(self) -> IndexFolder:
        """Refused."""
        raise ConfigError(f"a cluster is only read here ({self}); change it with lexfuse cluster index")

    def __str__(self) -> str:
        """The URI."""
        return self._store.uri
