"""``lexfuse cluster serve``: the HTTP service over the shards of a cluster."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.cluster.index import Address
from lexfuse.cli.cluster.ray_messages import ray_messages_apart
from lexfuse.cli.output.console import note, spinner
from lexfuse.cli.serve import TlsCertificate, TlsKey
from lexfuse.cluster.build.task_runner import ray_cluster, ray_package
from lexfuse.cluster.store import ClusterStore
from lexfuse.deployment.application import APPLICATION, ClusterOptions, application
from lexfuse.deployment.gateway import gateway_application
from lexfuse.deployment.ray_shards import HEDGE_SECONDS, SHARD_SECONDS
from lexfuse.errors import ConfigError, OverloadError
from lexfuse.service.http_server import listening
from lexfuse.service.http_server import serve as answer_requests
from lexfuse.service.logs import configure_logs
from lexfuse.service.settings import ServiceSettings, load_settings
from lexfuse.service.tls import tls_context


def serve(
    uri: Annotated[str, typer.Argument(help="The cluster: a folder, or an address like s3://bucket/law.")],
    replicas: Annotated[int, typer.Option("--replicas", min=1, help="Replicas of each shard.")] = 2,
    max_replicas: Annotated[
        int, typer.Option("--max-replicas", min=0, help="The most replicas of a shard under load; 0 is no autoscaling.")
    ] = 0,
    upscale_seconds: Annotated[
        float, typer.Option("--upscale-seconds", help="How long load lasts before further replicas start.")
    ] = 10.0,
    routers: Annotated[
        int, typer.Option("--routers", min=0, help="Routers, which run the service; 0 is 1 on one machine, 2 on several.")
    ] = 0,
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
    port: Annotated[int | None, typer.Option(help="The port; 0 takes a free one [default: 8080].")] = None,
    tls_certificate: TlsCertificate = None,
    tls_key: TlsKey = None,
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    keys: Annotated[Path | None, typer.Option(help="The key file of lexfuse keys.")] = None,
) -> None:
    """Serve the search page and the HTTP API of a cluster.

    Ray Serve runs replicas of every shard, and routers with the application of lexfuse serve. This process passes requests to the
    routers; the request of a lost router goes to another one. A newer generation is taken over while it runs. Ctrl-C or SIGTERM
    ends it.

        lexfuse cluster serve legi.cluster

        lexfuse cluster serve s3://law/legi --replicas 2 --routers 2 --host 10.0.0.5 --address 10.0.0.5:6379
    """
    flags: dict[str, Any] = {
        "profiles": [one.absolute() for one in profiles] if profiles else None,
        "host": host,
        "port": port,
        "tls_certificate": tls_certificate,
        "tls_key": tls_key,
        "title": title,
        "keys": keys.absolute() if keys else None,
    }
    settings = load_settings(flags, config).settings
    if settings.indexes:
        raise ConfigError("a service of a cluster has no other indexes; remove indexes from its settings")
    if settings.search_processes:
        raise ConfigError("the shards of a cluster search; remove search_processes from the settings of the service")
    tls_context(settings.tls_certificate, settings.tls_key)
    store = ClusterStore(uri)
    if not store.is_shared:
        raise ConfigError(f"{uri!r} is visible to one process only; replicas need a folder or an object store")
    options = ClusterOptions(
        uri=store.absolute_uri,
        replicas=replicas,
        max_replicas=max_replicas,
        upscale_seconds=upscale_seconds,
        routers=routers or 1,
        replica_processors=replica_processors,
        shard_seconds=shard_seconds,
        hedge_seconds=hedge_seconds,
        partial=partial,
    )
    shards = len(store.manifest().shards)
    most = max(replicas, max_replicas)
    needed = math.ceil(shards * most * replica_processors) + 1
    with (
        listening(settings.host, settings.port) as bound,
        ray_messages_apart() as announce,
        ray_cluster(address, max(needed, os.cpu_count() or 1)),
    ):
        machines = sum(node["Alive"] for node in ray_package().nodes())
        if machines > 1:  # two routers, on two machines
            options = options.model_copy(
                update={
                    "routers": routers or 2,
                    "replicas_per_machine": math.ceil(most / machines),
                    "routers_per_machine": math.ceil((routers or 2) / machines),
                }
            )
        with _routers(options, settings) as found:
            configure_logs()
            line = f"({shards} shards, {replicas} replicas); Ctrl-C ends it"
            answer_requests(
                gateway_application(found, settings), settings, bound, lambda url: announce(f"{settings.title} on {url} {line}")
            )


@contextmanager
def _routers(options: ClusterOptions, settings: ServiceSettings) -> Iterator[Any]:
    """The handle of the routers, as long as Ray Serve runs them and the shards; the gateway is this process, not its proxies."""
    server = import_module("ray.serve")
    server.start(proxy_location="Disabled")
    try:
        try:
            with spinner("opening the shards"):
                found = server.run(application(options, settings), name=APPLICATION, route_prefix=None)
        except RuntimeError as error:
            raise OverloadError(f"Ray Serve could not start the cluster: {str(error).splitlines()[0]}") from None
        yield found
    finally:
        note("ending the service")
        server.delete(APPLICATION)
