"""``lexfuse cluster status``: what a cluster consists of."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from lexfuse.cli.output.console import AsJson, line, print_json, table
from lexfuse.cluster.store import BUILDS, ClusterStore
from lexfuse.cluster.task_runner import ray_cluster
from lexfuse.deployment.application import APPLICATION
from lexfuse.errors import NotFoundError


def status(
    uri: Annotated[str, typer.Argument(help="The cluster: a folder, or an address like s3://bucket/law.")],
    address: Annotated[
        str, typer.Option("--address", help="A Ray cluster that serves it, like 10.0.0.5:6379: show its replicas too.")
    ] = "",
    json: AsJson = False,
) -> None:
    """Describe the cluster at a URI.

    It shows the published generation, its shards and channels, and builds that were interrupted.

        lexfuse cluster status s3://law/legi

        lexfuse cluster status s3://law/legi --address 10.0.0.5:6379
    """
    store = ClusterStore(uri)
    manifest, builds = store.manifest(), store.names(BUILDS)
    served = _served(address) if address else {}
    if json:
        shards = [
            {"documents": shard.documents, "bytes": shard.size, "files": len(shard.files), "digest": shard.digest}
            for shard in manifest.shards
        ]
        channels = [channel.model_dump() for channel in manifest.channels]
        found = {"cluster": uri, "generation": manifest.generation, "parent": manifest.parent, "documents": manifest.documents}
        print_json(found | {"shards": shards, "channels": channels, "unfinished_builds": builds, "served": served})
        return
    line(f"cluster: {uri}")
    line(f"generation: {manifest.generation}")
    line(f"documents: {manifest.documents:,}")
    for channel in manifest.channels:
        line(f"channel {channel.name}: {channel.model} ({channel.fingerprint})")
    table("Shards", ["shard", "documents", "bytes"], [(at, one.documents, one.size) for at, one in enumerate(manifest.shards)])
    if served:
        rows = [(name, one["status"], one["running"]) for name, one in served.items()]
        table("Deployments", ["deployment", "status", "running"], rows, numbers_from=2)
    if builds:
        line(f"unfinished builds: {', '.join(builds)}")


def _served(address: str) -> dict[str, dict[str, Any]]:
    """The state of every deployment of the service, and how many of its replicas run."""
    with ray_cluster(address):
        found = import_module("ray.serve").status().applications.get(APPLICATION)
    if found is None:
        raise NotFoundError(f"the Ray cluster at {address!r} serves no cluster; start it with lexfuse cluster serve")
    return {
        name: {"status": str(one.status.value), "running": one.replica_states.get("RUNNING", 0)}
        for name, one in sorted(found.deployments.items())
    }
