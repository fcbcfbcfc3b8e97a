"""The simulation of a cluster against a real small one: percentiles of the latency, simulated and measured.

    python bench/simulation_check.py [--quick] [--json] [--requests N] [--median 60] [--sigma 0.4] [--seed 0] [--only TEXT]

Makes a cluster of 2 shards of the articles in examples/, starts replicas of Ray Serve in a separate network on this machine,
and sends requests to both shards at the moments of a Poisson process. A request ranks documents by words and then waits for a
log-normal time (`--median` and `--sigma`, milliseconds), as a shard with more documents on a separate machine would compute:
waiting leaves the cores of this machine to the other replicas, which the simulation assumes to be independent. A replica serves
one request at a time. One of the replicas may be a straggler, which waits four times as long.

1. Requests one after the other at an idle cluster: the service times that the replicas report are the samples of the simulation,
   and the median of what a request takes beyond its slower shard is the time of the router.
2. Each setting is measured, and simulated with these samples and the same rate, replicas, stragglers and delay of hedged
   requests. One line a percentile: measured, simulated, and the ratio measured / simulated. 1 is a right simulation.
3. Replicas write down every copy of a request that they serve. Where requests are hedged, one line each says how many were sent
   twice, how many of those were served twice by one replica, and how much time went into answers that nobody used.

The last setting, which --quick leaves out, does not wait: Ray and the cores of this machine take more time than the shards.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lexfuse.channels.registry import open_retriever
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.build.task_runner import ray_cluster
from lexfuse.cluster.shard import Shard, ShardRequest
from lexfuse.cluster.shard_requests import Ranking
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.queries import Queries, Query
from network.enclosure import enclose
from network.served_shards import ServedShards, served
from runner.needs import Needs
from simulate_cluster import WARM_UP, Cluster, Measured, simulate

NEEDS = Needs(packages=("ray",), namespaces=True)

SHARDS, SLOWDOWN, K = 2, 4.0, 5
PERCENTILES = (50, 95, 99)
SETTLE = 20.0  # mean service times, until the last copies of hedged requests are served
CLIENTS = 200  # requests that may wait at the same time
ALONE = 50  # requests that are sent one after the other
CORPUS = Path(__file__).parents[1] / "examples" / "articles.csv"
QUESTION = Queries.of([Query("q", "retard de prêt", "fr")])


@dataclass(frozen=True)
class Setting:
    """What is measured and simulated."""

    replicas: int
    load: float  # of the replicas without stragglers
    hedged: bool = False  # after the 95th percentile of the service times
    straggler: bool = False  # one replica
    waits: bool = True

    @property
    def name(self) -> str:
        """In words."""
        words = [f"{self.replicas} replica{'s' if self.replicas > 1 else ''}", f"load {self.load:.0%}"]
        words += ["a straggler"] * self.straggler + ["hedged"] * self.hedged + ["no waiting"] * (not self.waits)
        return ", ".join(words)


SETTINGS = (
    Setting(1, 0.3), Setting(1, 0.6), Setting(2, 0.3), Setting(2, 0.3, hedged=True), Setting(2, 0.3, straggler=True),
    Setting(2, 0.3, straggler=True, hedged=True), Setting(1, 0.1, waits=False),
)  # fmt: skip


class Answered(NamedTuple):
    """An answer, and the milliseconds that the replica took for it."""

    answer: Any
    milliseconds: float


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request after whose answer the replica waits; the replica whose process the file names waits longer."""

    request: ShardRequest
    median: float
    sigma: float
    straggler: str = ""  # a file; the first replica that creates it is the straggler
    copies: str = ""  # a file, in which replicas write what they serve
    name: str = ""  # of the request and the shard, in that file

    def answer(self, shard: Shard) -> Answered:
        """The answer, and how long it took."""
        start = time.perf_counter()
        answer = self.request.answer(shard)
        if self.median:
            wait = random.lognormvariate(math.log(self.median), self.sigma)
            time.sleep(wait * (SLOWDOWN if self.straggler and _is_straggler(Path(self.straggler)) else 1.0) / 1e3)
        took = 1e3 * (time.perf_counter() - start)
        if self.copies:
            with open(self.copies, "a") as file:
                file.write(f"{self.name} {os.getpid()} {took}\n")
        return Answered(answer, took)


def _is_straggler(file: Path) -> bool:
    try:
        with file.open("x") as created:
            created.write(str(os.getpid()))
    except FileExistsError:
        return file.read_text() == str(os.getpid())
    return True


class Measurement:
    """Requests to the replicas of a cluster."""

    def __init__(self, replicas: ServedShards, request: WaitingRequest, hedge_seconds: float = 0.0) -> None:
        """Send the same request to every shard; 0 seconds is no hedged request."""
        self._client, self._request, self._numbers = replicas.client(hedge_seconds), request, count()

    def send(self) -> Mapping[int, Answered]:
        """The answers of all shards."""
        number = next(self._numbers)
        return self._client.ask({shard: replace(self._request, name=f"{number}-{shard}") for shard in range(SHARDS)})

    def alone(self, requests: int) -> tuple[list[float], float]:
        """Service times of requests one after the other, and the median of what a request takes beyond them, in milliseconds."""
        times, beyond = [], []
        for number in range(2 * requests):
            start = time.perf_counter()
            answers = self.send()
            took = 1e3 * (time.perf_counter() - start)
            if number >= requests:  # the first half is the warm-up
                own = [one.milliseconds for one in answers.values()]
                times += own
                beyond.append(took - max(own))
        return times, float(np.median(beyond))

    def latencies(self, rate: float, requests: int, seed: int) -> list[float]:
        """Milliseconds from the moment at which a request is due to its answer, without the warm-up."""
        moments = np.cumsum(np.random.default_rng(seed).exponential(1 / rate, requests)).tolist()
        with ThreadPoolExecutor(CLIENTS) as clients:
            start = time.perf_counter()
            waiting = [clients.submit(self._sent, start + moment) for moment in moments]
            return [one.result() for one in waiting][int(WARM_UP * requests) :]

    def _sent(self, due: float) -> float:
        time.sleep(max(0.0, due - time.perf_counter()))
        self.send()
        return 1e3 * (time.perf_counter() - due)


class Copies(NamedTuple):
    """What replicas served."""

    second: float  # requests to a shard that were served twice or more, as a share of all
    same: float  # of these, those that one replica served twice
    unused: float  # time of all copies but the fastest of each request, as a share of that of the fastest

    @classmethod
    def read(cls, file: Path) -> Copies:
        """From the file of a measurement."""
        served: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
        for line in file.read_text("utf-8").splitlines():
            name, process, took = line.split()
            served[name].append((process, float(took)))
        twice = [copies for copies in served.values() if len(copies) > 1]
        same = sum(len({process for process, _ in copies}) < len(copies) for copies in twice)
        used = sum(min(took for _, took in copies) for copies in served.values())
        every = sum(took for copies in served.values() for _, took in copies)
        return cls(len(twice) / len(served), same / max(len(twice), 1), every / used - 1)


def check(
    setting: Setting, store: ClusterStore, ranking: Ranking, options: argparse.Namespace, home: Path
) -> Iterator[dict[str, Any]]:
    """Measure a setting and simulate it."""
    median = options.median if setting.waits else 0.0
    plain = WaitingRequest(ranking, median, options.sigma)
    with served(store, replicas=setting.replicas, threads=1) as replicas:
        samples, router = Measurement(replicas, plain).alone(20 if options.quick else ALONE)
        service = Measured(samples)
        rate = 1e3 * setting.load * setting.replicas / service.mean
        hedge = float(np.percentile(samples, 95)) + router if setting.hedged else math.inf
        file = str(home / f"straggler {setting.name}") if setting.straggler else ""
        copies = home / f"copies {setting.name}"
        request = WaitingRequest(ranking, median, options.sigma, file, str(copies))
        measurement = Measurement(replicas, request, hedge / 1e3 if setting.hedged else 0.0)
        requests = options.requests or (60 if options.quick else 400)
        found = measurement.latencies(rate, requests, options.seed)
        time.sleep(SETTLE * service.mean / 1e3 if setting.hedged else 0.0)  # the last copies that nobody waits for
    share = 1 / (SHARDS * setting.replicas) if setting.straggler else 0.0
    cluster = Cluster(
        service, rate, SHARDS, setting.replicas, workers=1, stragglers=share, slowdown=SLOWDOWN, hedge=hedge, merge=router
    )
    simulated = simulate(cluster, 50_000, options.seed)
    for percent in PERCENTILES:
        ours, theirs = float(np.percentile(found, percent)), simulated.percentile(percent)
        metric = f"p{percent} ms, {setting.name} ({rate:.0f}/s, {len(found)} requests)"
        yield {"metric": metric, "ours": ours, "peer": "simulated", "theirs": theirs, "ratio": ours / theirs}
    if setting.hedged:
        served_copies = Copies.read(copies)
        for metric, one, other in (
            ("requests served twice", served_copies.second, simulated.second_copies),
            ("of these by one replica", served_copies.same, 0.0),
            ("time for unused answers", served_copies.unused, simulated.extra_load),
        ):
            ratio = one / other if other else None
            yield {"metric": f"%  {metric}, {setting.name}", "ours": 100 * one, "theirs": 100 * other, "ratio": ratio}


def compare(options: argparse.Namespace, home: Path) -> Iterator[dict[str, Any]]:
    """All settings."""
    store = ClusterStore(str(home / "law"))
    builder = ClusterBuilder(store=store, work=home / "work")
    builder.build(CORPUS, shards=SHARDS)
    settings = [one for one in SETTINGS if (one.waits or not options.quick) and options.only in one.name]
    with ray_cluster(processors=16):
        with served(store, threads=1) as replicas:
            ranking = ranking_of(replicas)
        for setting in settings:
            yield from check(setting, store, ranking, options, home)


def ranking_of(replicas: ServedShards) -> Ranking:
    """The request by which a router asks a shard for the best documents by words."""
    words: Any = open_retriever(replicas.router().snapshot, "bm25")
    return Ranking(words.plan, tuple(QUESTION.ids), words.read(QUESTION), K)


def show(found: Mapping[str, Any], as_json: bool) -> None:
    """One line a percentile."""
    if as_json:
        print(json.dumps(found), flush=True)
    else:
        ratio = "" if found["ratio"] is None else f"{found['ratio']:5.2f}"
        print(f"{found['metric']:<80} {found['ours']:8.1f}  {found['theirs']:8.1f}  {ratio}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description="latency of a small cluster, measured and simulated")
    parser.add_argument("--requests", type=int, help="of each setting; 400, or 60 with --quick")
    parser.add_argument("--median", type=float, default=60.0, help="milliseconds that a replica waits: the median")
    parser.add_argument("--sigma", type=float, default=0.4, help="deviation of the logarithm of what a replica waits")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="settings whose names have this text, like straggler")
    parser.add_argument("--quick", action="store_true", help="fewer requests")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args(arguments)
    NEEDS.check()
    if options.median <= 0 or options.sigma < 0 or (options.requests is not None and options.requests < 10):
        sys.exit("--median must be positive, --sigma must not be negative, and --requests must be at least 10")
    enclose()
    if not options.json:
        print(f"{'':<80} measured simulated  ratio")
    with tempfile.TemporaryDirectory(prefix="lf-") as home:
        for found in compare(options, Path(home)):
            show(found, options.json)


if __name__ == "__main__":
    main()
