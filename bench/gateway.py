"""What the gateway of a served cluster costs: the same requests by four ways, in turn, on one Ray node.

    python bench/gateway.py [--quick] [--json]

Serves the example articles as a cluster of one shard. Needs root, or unprivileged user namespaces, and `ip` (iproute2): Ray has
its own network. The ways to the same application:

    application            in this process, without Ray or a router
    gateway                `lexfuse cluster serve`: this process passes requests to a router
    proxy                  the HTTP proxy of Ray Serve passes requests to a router; a lost router's request fails
    proxy and gateway      KubeRay: the proxy of Ray Serve passes requests to the gateway, and it to a router

/healthz shows the cost of the way alone. Median milliseconds of wall clock; a ratio above 1 means that the gateway is faster.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from network.enclosure import enclose
from runner.needs import Needs

NEEDS = Needs(packages=("ray",), namespaces=True)

EXAMPLES = Path(__file__).parents[1] / "examples" / "articles.csv"
PATHS = {"/healthz": "/healthz", "search": "/v1/search?query=retard&k=5"}
PROXY, GATEWAY, APPLICATION = 8000, 8001, 8002  # ports


def milliseconds(port: int, path: str) -> float:
    """The time of one request."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"status {answer.status} of {path} at port {port}")
    return 1e3 * (time.perf_counter() - began)


def listen(app: Any, port: int) -> None:
    """Serve an application in a thread, until the process ends."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", loop="asyncio"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)


def started(folder: Path) -> None:
    """Start all ways; ``/direct`` of the proxy leads to a router without a gateway."""
    from ray import serve

    from lexfuse import Index
    from lexfuse.cluster.build.cluster_build import ClusterBuilder
    from lexfuse.cluster.store import ClusterStore
    from lexfuse.data.formats.file_format import read_corpus
    from lexfuse.deployment.application import APPLICATION as NAME
    from lexfuse.deployment.application import cluster_application
    from lexfuse.deployment.gateway import gateway_application
    from lexfuse.deployment.ray_shards import ShardLimits
    from lexfuse.service.app import create_app
    from lexfuse.service.context import ServiceContext
    from lexfuse.service.registry import IndexPlace, IndexRegistry
    from lexfuse.service.settings import ServiceSettings

    store, settings = ClusterStore(str(folder / "law")), ServiceSettings(requests_per_minute=0)
    ClusterBuilder(store=store, work=folder / "work").build(EXAMPLES, shards=1)
    serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": PROXY})
    made = cluster_application({"uri": store.uri, "replicas": 1, "replica_processors": 0.1})
    serve.run(made, name=NAME, route_prefix="/")
    direct = serve.deployment(serve.ingress()(direct_router()), name="direct", ray_actor_options={"num_cpus": 0})
    shards = [serve.get_deployment_handle("shard-0", NAME)]
    serve.run(direct.bind(store.uri, ShardLimits(), settings, shards), name="direct", route_prefix="/direct")
    listen(gateway_application(serve.get_deployment_handle("router", NAME), settings), GATEWAY)
    Index.build(folder / "single.index", read_corpus(EXAMPLES)).close()
    registry = IndexRegistry.open([IndexPlace.of(folder / "single.index")])
    listen(create_app(ServiceContext(registry, settings)), APPLICATION)


def direct_router() -> type:
    """A router that the proxy of Ray Serve reaches without a gateway."""
    from fastapi import FastAPI

    from lexfuse.deployment.router import Router

    class DirectRouter(Router):
        def __serve_build_asgi_app__(self) -> FastAPI:
            return self._app

    return DirectRouter


def measured(repeats: int) -> Iterator[dict[str, Any]]:
    """One record per request and way."""
    ways = {
        "application": (APPLICATION, ""),
        "gateway": (GATEWAY, ""),
        "proxy": (PROXY, "/direct"),
        "proxy and gateway": (PROXY, ""),
    }
    for name, path in PATHS.items():
        times: dict[str, list[float]] = {way: [] for way in ways}
        for turn in range(repeats + 20):
            for way, (port, prefix) in ways.items():
                taken = milliseconds(port, prefix + path)
                if turn >= 20:  # the first ones open connections and load models
                    times[way].append(taken)
        found = {way: statistics.median(some) for way, some in times.items()}
        for way, theirs in found.items():
            if way != "gateway":
                metric, ours = f"ms {name}, gateway", found["gateway"]
                yield {"metric": metric, "ours": ours, "peer": way, "theirs": theirs, "ratio": theirs / ours}


def main() -> None:
    """Print every comparison."""
    parser = argparse.ArgumentParser(description="what the gateway of a served cluster costs")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    enclose()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"LEXFUSE_CACHE": f"{folder}/cache", "LEXFUSE_SERVE_REQUESTS_PER_MINUTE": "0"}
        from lexfuse.cluster.build.task_runner import ray_cluster

        with ray_cluster(processors=4):
            started(Path(folder))
            for found in measured(100 if options.quick else 500):
                if options.json:
                    print(json.dumps(found), flush=True)
                else:
                    print(f"{found['metric']:<24} {found['ours']:8.2f}  {found['theirs']:8.2f} {found['peer']}", flush=True)


if __name__ == "__main__":
    main()
