"""``lexfuse cluster serve``: the HTTP service over the shards of a cluster."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.cluster.index import Address
from lexfuse.cli.output.console import note, spinner
from lexfuse.cluster.store import ClusterStore
from lexfuse.cluster.task_runner import ray_cluster, ray_package
from lexfuse.deployment.application import APPLICATION, ClusterOptions, application
from lexfuse.deployment.ray_shards import HEDGE_SECONDS, SHARD_SECONDS
from lexfuse.errors import ConfigError, OverloadError
from lexfuse.service.settings import load_settings


def serve(
    uri: Annotated[str, typer.Argument(help="The cluster: a folder, or an address like s3://bucket/law.")],
    replicas: Annotated[int, typer.Option("--replicas", min=1, help="Replicas of each shard.")] = 2,
    max_replicas: Annotated[
        int, typer.Option("--max-replicas", min=0, help="The most replicas of a shard under load; 0 is no autoscaling.")
    ] = 0,
    routers: Annotated[int, typer.Option("--routers", min=1, help="Routers, which run the service.")] = 1,
    replica_processors: Annotated[
        float, typer.Option("--replica-processors", help="Processors that a replica of a shard reserves.")
    ] = 1.0,
    shard_seconds: Annotated[float, typer.Option("--shard-seconds", help="Maximum time of a shard's answer.")] = SHARD_SECONDS,
    hedge_seconds: Annotated[
        float, typer.Option("--hedge-seconds", help="Ask a second replica after this time; 0 is never.")
    ] = HEDGE_SECONDS,
    partial: Annotated[
        bool, typer.Option("--partial/--no-partial", help="Answer without shards that do not, marked partial; or with an error.")
    ] = True,
    address: Address = "",
    config: Annotated[Path | None, typer.Option("--config", help="Settings of the service in a TOML file.")] = None,
    profiles: Annotated[list[Path] | None, typer.Option("--profile", help="A profile file to offer. May be repeated.")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on [default: 127.0.0.1].")] = None,
    port: Annotated[int | None, typer.Option(help="The port [default: 8080].")] = None,
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    keys: Annotated[Path | None, typer.Option(help="The key file of lexfuse keys.")] = None,
) -> None:
    """Serve the search page and the HTTP API of a cluster.

    Ray Serve runs replicas of every shard, and routers with the application of lexfuse serve. A newer generation is taken over
    while it runs. Ctrl-C or SIGTERM ends it.

        lexfuse cluster serve legi.cluster

        lexfuse cluster serve s3://law/legi --replicas 2 --routers 2 --host 10.0.0.5 --address 10.0.0.5:6379
    """
    flags: dict[str, Any] = {
        "profiles": [one.absolute() for one in profiles] if profiles else None,
        "host": host,
        "port": port,
        "title": title,
        "keys": keys.absolute() if keys else None,
    }
    settings = load_settings(flags, config).settings
    if settings.indexes:
        raise ConfigError("a service of a cluster has no other indexes; remove indexes from its settings")
    store = ClusterStore(uri)
    if not store.is_shared:
        raise ConfigError(f"{uri!r} is visible to one process only; replicas need a folder or an object store")
    shards = len(store.manifest().shards)
    needed = math.ceil(shards * max(replicas, max_replicas) * replica_processors) + 1
    with ray_cluster(address, max(needed, os.cpu_count() or 1)):
        ray, server = ray_package(), import_module("ray.serve")
        machines = sum(node["Alive"] for node in ray.nodes())
        options = ClusterOptions(
            uri=store.absolute_uri,
            replicas=replicas,
            max_replicas=max_replicas,
            routers=routers,
            replica_processors=replica_processors,
            replicas_per_machine=math.ceil(max(replicas, max_replicas) / machines) if machines > 1 else 0,
            routers_per_machine=math.ceil(routers / machines) if machines > 1 else 0,
            shard_seconds=shard_seconds,
            hedge_seconds=hedge_seconds,
            partial=partial,
        )
        http = {"host": settings.host, "port": settings.port, "request_timeout_s": settings.timeout_seconds + 5}
        server.start(http_options=http)
        try:
            with spinner("opening the shards"):
                server.run(application(options, settings), name=APPLICATION, route_prefix="/")
            _wait(f"{settings.title} on http://{settings.host}:{settings.port} ({shards} shards, {replicas} replicas)")
        except RuntimeError as error:
            raise OverloadError(f"Ray Serve could not start the cluster: {str(error).splitlines()[0]}") from None
        finally:
            note("ending the service")
            server.delete(APPLICATION)


def _wait(announcement: str) -> None:
    """Announce the service, and wait until a signal ends the process."""
    sys.stdout.write(f"{announcement}; Ctrl-C ends it\n")
    sys.stdout.flush()
    os.dup2(2, 1)  # what Ray prints from here on is no answer of the command
    ended = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: ended.set())
    while not ended.wait(1.0):  # in turns, so that signals are handled
        pass
