"""``lexfuse cluster status``: what a cluster consists of."""

from __future__ import annotations

from typing import Annotated

import typer

from lexfuse.cli.output.console import AsJson, line, print_json, table
from lexfuse.cluster.store import BUILDS, ClusterStore


def status(
    uri: Annotated[str, typer.Argument(help="The cluster: a folder, or an address like s3://bucket/law.")],
    json: AsJson = False,
) -> None:
    """Describe the cluster at a URI.

    It shows the published generation, its shards and channels, and builds that were interrupted.

        lexfuse cluster status s3://law/legi
    """
    store = ClusterStore(uri)
    manifest, builds = store.manifest(), store.names(BUILDS)
    if json:
        shards = [
            {"documents": shard.documents, "bytes": shard.size, "files": len(shard.files), "digest": shard.digest}
            for shard in manifest.shards
        ]
        channels = [channel.model_dump() for channel in manifest.channels]
        found = {"cluster": uri, "generation": manifest.generation, "parent": manifest.parent, "documents": manifest.documents}
        print_json(found | {"shards": shards, "channels": channels, "unfinished_builds": builds})
        return
    line(f"cluster: {uri}")
    line(f"generation: {manifest.generation}")
    line(f"documents: {manifest.documents:,}")
    for channel in manifest.channels:
        line(f"channel {channel.name}: {channel.model} ({channel.fingerprint})")
    table("Shards", ["shard", "documents", "bytes"], [(at, one.documents, one.size) for at, one in enumerate(manifest.shards)])
    if builds:
        line(f"unfinished builds: {', '.join(builds)}")
