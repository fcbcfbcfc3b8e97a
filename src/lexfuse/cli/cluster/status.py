"""``lexfuse cluster status``: what a cluster consists of."""

from __future__ import annotations

from typing import Annotated

import typer

from lexfuse.cli.cluster.ray_messages import ray_messages_apart
from lexfuse.cli.output.console import AsJson, line, print_json, table
from lexfuse.cluster.build.task_runner import ray_cluster
from lexfuse.cluster.store import BUILDS, ClusterStore
from lexfuse.deployment.service_status import DeploymentState, service_status


def status(
    uri: Annotated[str, typer.Argument(help="The cluster: a folder, or an address like s3://bucket/law.")],
    address: Annotated[
        str, typer.Option("--address", help="A Ray cluster that serves it, like 10.0.0.5:6379: show its replicas too.")
    ] = "",
    json: AsJson = False,
) -> None:
    """Describe the cluster at a URI.

    It shows the published generation, its shards and channels, and builds that were interrupted. With --address it shows the
    replicas of a service too: their health, and the generations that they have open.

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
        shown = {name: one._asdict() | {"running": one.running} for name, one in served.items()}
        channels = [channel.model_dump() for channel in manifest.channels]
        found = {"cluster": uri, "generation": manifest.generation, "parent": manifest.parent, "documents": manifest.documents}
        print_json(found | {"shards": shards, "channels": channels, "unfinished_builds": builds, "served": shown})
        return
    line(f"cluster: {uri}")
    line(f"generation: {manifest.generation}")
    line(f"documents: {manifest.documents:,}")
    for channel in manifest.channels:
        line(f"channel {channel.name}: {channel.model} ({channel.fingerprint})")
    table("Shards", ["shard", "documents", "bytes"], [(at, one.documents, one.size) for at, one in enumerate(manifest.shards)])
    if served:
        rows = [
            (name, one.status.lower(), _shown(one.generations), one.running, sum(one.replicas.values()))
            for name, one in served.items()
        ]
        table("Deployments", ["deployment", "status", "generations open", "running", "replicas"], rows, numbers_from=3)
        for name, one in served.items():
            if one.message:
                line(f"{name}: {one.message.splitlines()[0]}")
    if builds:
        line(f"unfinished builds: {', '.join(builds)}")


def _served(address: str) -> dict[str, DeploymentState]:
    """The state of every deployment of the service."""
    with ray_messages_apart(), ray_cluster(address):
        return service_status()


def _shown(generations: list[list[int]]) -> str:
    """The generations that replicas have open."""
    return ", ".join(map(str, sorted({one for some in generations for one in some}))) or "-"
