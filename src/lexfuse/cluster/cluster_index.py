"""`ClusterIndex`: the shards of a cluster, searched as one index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from lexfuse.cluster.cluster_manifest import generation_number
from lexfuse.cluster.cluster_snapshot import ClusterSnapshot
from lexfuse.cluster.local_copy import LocalCopies
from lexfuse.cluster.shard_client import LocalShards, ShardClient
from lexfuse.cluster.statistics import Statistics, gather_statistics, load_distributions, load_statistics
from lexfuse.cluster.store import ClusterStore
from lexfuse.encode.shared_encoders import SharedEncoders
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.folder_snapshot import open_snapshot


class ClusterIndex(IndexReader):
    """Shards that are searched as one index: the same rankings, scores, facets and explanations.

    >>> from lexfuse.cluster.partition import partition
    >>> folders = []
    >>> for number, documents in enumerate(partition(lexfuse.read_corpus("examples/articles.csv"), 2)):
    ...     folders.append(folder / f"shard-{number}")
    ...     lexfuse.Index.build(folders[-1], documents).close()
    >>> with ClusterIndex.of(folders) as cluster:
    ...     [hit.id for hit in cluster.search("retard de prêt", k=2)]
    ['lib-4', 'lib-3']
    """

    def __init__(
        self,
        client: ShardClient,
        statistics: Statistics,
        *,
        name: str = "cluster",
        generation: int = 0,
        distributions: Mapping[str, Any] | None = None,
        profiles: Mapping[str, SearchSpec] | None = None,
        encoders: SharedEncoders | None = None,
    ) -> None:
        """Search the shards of a client; `statistics` are those of all of them together."""
        snapshot = ClusterSnapshot(client, statistics, name=name, generation=generation, distributions=distributions)
        self._version = IndexVersion(snapshot, profiles, encoders, name=name)

    @classmethod
    def of(cls, folders: Sequence[Path], **options: Any) -> Self:
        """Index folders on this machine as the shards of one index; their statistics are gathered now."""
        opened = [open_snapshot(folder) for folder in folders]
        try:
            statistics = gather_statistics(opened)
        finally:
            for snapshot in opened:
                snapshot.close()
        return cls(LocalShards(folders, statistics), statistics, **options)

    @classmethod
    def published(cls, store: ClusterStore, cache: Path | None = None, **options: Any) -> Self:
        """The published generation of a cluster in this process; every shard is fetched into a cache folder.

        >>> from lexfuse.cluster.build.cluster_build import ClusterBuilder
        >>> store = ClusterStore(str(folder / "law"))
        >>> _ = ClusterBuilder(store=store, work=folder / "work").build("examples/articles.csv", shards=2)
        >>> with ClusterIndex.published(store, folder / "cache") as cluster:
        ...     len(cluster)
        6
        """
        manifest, copies = store.manifest(), LocalCopies(store, cache)
        folder, folders = copies.statistics(manifest), [copies.shard(manifest, at) for at in range(len(manifest.shards))]
        statistics, known = load_statistics(folder), load_distributions(folder)
        options = {"name": store.uri, "distributions": known} | options
        return cls(LocalShards(folders, statistics), statistics, generation=generation_number(manifest.generation), **options)

    @property
    def version(self) -> IndexVersion:
        """The state that is searched, with its profiles."""
        return self._version

    def close(self) -> None:
        """Let go of the shards."""
        self._version.close()

    def __enter__(self) -> Self:
        """Use as a context that closes."""
        return self

    def __exit__(self, *error: object) -> None:
        """Let go of the shards."""
        self.close()
