"""The Serve application of a cluster: one deployment per shard, and one of routers in front of them.

``lexfuse cluster serve`` is the gateway to its routers. Where Ray Serve runs without that command, its HTTP proxy needs a gateway
too: `cluster_application` is an application builder for ``serve run`` and KubeRay,
``import_path: lexfuse.deployment.application:cluster_application`` with the fields of `ClusterOptions` as ``args``.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import Field

from lexfuse.cluster.build.task_runner import ray_package
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.validation import Amount, Count, Model, Name
from lexfuse.deployment.gateway import GatewayDeployment
from lexfuse.deployment.ray_shards import HEDGE_SECONDS, SHARD_SECONDS, ShardLimits
from lexfuse.deployment.router import Router
from lexfuse.deployment.shard_replica import ShardReplica
from lexfuse.errors import ConfigError
from lexfuse.service.settings import ServiceSettings, load_settings

APPLICATION, GATEWAY = "lexfuse", "gateway"  # names that Ray Serve shows
HEALTH_SECONDS = 5.0  # between two checks of a replica
HEAD = "node:__internal_head__"  # the resource that only the head node of a Ray cluster has
LOGS = {"encoding": "JSON", "enable_access_log": False}  # routers log requests, without questions


class ClusterOptions(Model):
    """How a cluster is served.

    >>> ClusterOptions(uri="s3://law/legi", replicas=0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: replicas must be 1 or more, got 0
    """

    uri: Name
    replicas: Count = 2  # of each shard
    max_replicas: Amount = 0  # with autoscaling; 0 is none
    target_requests: float = Field(default=2.0, gt=0)  # at a time, of a replica; more of them start further replicas
    upscale_seconds: float = Field(default=10.0, ge=0)  # of load, before further replicas start
    routers: Count = 1
    replica_processors: float = Field(default=1.0, gt=0)  # that a replica reserves
    replicas_per_machine: Amount = 0  # of a shard; 0 is no limit
    routers_per_machine: Amount = 0
    ongoing_requests: Count = 16  # of a replica
    waiting_requests: Count = 64  # of a router, per shard, before it refuses
    shard_seconds: float = SHARD_SECONDS
    hedge_seconds: float = HEDGE_SECONDS
    partial: bool = True
    config: str = ""  # a file with settings of the service

    def check(self) -> None:
        """Refuse limits that do not fit together."""
        _ = self.limits
        if self.max_replicas and self.max_replicas < self.replicas:
            raise ConfigError(f"max_replicas must be {self.replicas} or more, or 0; got {self.max_replicas}")

    @property
    def limits(self) -> ShardLimits:
        """How long routers wait for shards."""
        return ShardLimits(self.shard_seconds, self.hedge_seconds, self.partial)


def cluster_application(args: dict[str, Any]) -> Any:
    """The application from the fields of `ClusterOptions`; settings of the service come from its file and the environment."""
    options = ClusterOptions(**args)
    settings = load_settings({}, Path(options.config) if options.config else None).settings
    if settings.tls_certificate or settings.tls_key:
        raise ConfigError("the HTTP proxy of Ray Serve takes no tls_certificate; configure HTTPS in front of it")
    routers, serve = application(options, settings), import_module("ray.serve")
    gateway = serve.deployment(
        serve.ingress()(GatewayDeployment),
        name=GATEWAY,
        max_ongoing_requests=settings.max_connections,
        ray_actor_options={"num_cpus": 0, "resources": {HEAD: 0.001}},  # where the proxy is: it is lost only with the proxy
        logging_config=LOGS,
    )
    return gateway.bind(routers, settings)


def application(options: ClusterOptions, settings: ServiceSettings) -> Any:
    """The routers and shards, for `ray.serve.run`; the cluster must be published."""
    ray_package()
    serve = import_module("ray.serve")
    shards = len(ClusterStore(options.uri).manifest().shards)
    count: dict[str, Any] = {"num_replicas": options.replicas}
    if options.max_replicas:
        count = {
            "autoscaling_config": {
                "min_replicas": options.replicas,
                "max_replicas": options.max_replicas,
                "target_ongoing_requests": options.target_requests,
                "upscale_delay_s": options.upscale_seconds,
                "look_back_period_s": max(1.0, options.upscale_seconds),
            }
        }
    if options.replicas_per_machine:
        count["max_replicas_per_node"] = options.replicas_per_machine
    replica = serve.deployment(
        ShardReplica,
        max_ongoing_requests=options.ongoing_requests,
        max_queued_requests=options.waiting_requests,
        health_check_period_s=HEALTH_SECONDS,
        ray_actor_options={"num_cpus": options.replica_processors},
        logging_config=LOGS,
        **count,
    )
    handles = [
        replica.options(name=f"shard-{shard}").bind(options.uri, shard, threads=options.ongoing_requests, has_process=True)
        for shard in range(shards)
    ]
    spread = {"max_replicas_per_node": options.routers_per_machine} if options.routers_per_machine else {}
    router = serve.deployment(
        Router,
        name="router",
        num_replicas=options.routers,
        max_ongoing_requests=settings.max_connections,  # of the gateway; the application refuses what is more than it can do
        health_check_period_s=HEALTH_SECONDS,
        ray_actor_options={"num_cpus": 0},
        logging_config=LOGS,
        **spread,
    )
    return router.bind(options.uri, options.limits, settings, handles)
