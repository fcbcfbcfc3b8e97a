"""Tail latency of a cluster, simulated: shards, replicas, stragglers, hedged requests, deadlines, partial answers.

    python bench/simulate_cluster.py [--quick] [--json] [--shards 1,8,32] [--replicas 1,2] [--rate 20] [--hedge none,p95]
                                     [--median 20 --sigma 0.5 | --exponential 20 | --samples FILE] [...]

Options that take a list make one line for each combination of their values; `--help` names all. Times are milliseconds.

The model: requests arrive as a Poisson process. A router sends one copy of a request to every shard, to the replica with the
fewest copies (or, with --random, to any). A replica has a queue and serves `--workers` copies at a time, first come, first
served. A hedged request sends a second copy to another replica of each shard that has not answered after a delay; the first
answer counts. A copy that is not needed any more leaves the queue; one that is being served is served to its end. A shard that
has not answered at its deadline is left out, and the answer is partial. The router adds a constant time to merge.

Service times are log-normal, exponential, or measured (`--samples`: a text file, one number a line). Some replicas are slower by
a factor (`--stragglers`, `--slowdown`). `--correlation` is how far the time belongs to the question and not to the replica: at 1
a question takes as long on every shard and replica, and a second copy is of no use.

A hedge of p95 waits for the 95th percentile of the answers of single shards of the same cluster without hedging. The same seed
draws the same arrivals and service times for every combination of one number of shards, so that lines differ by their settings
alone. The first tenth of the requests is the warm-up and not counted among the latencies.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from runner.needs import Needs

NEEDS = Needs()

WARM_UP = 0.1  # share of the requests
PERCENTILES = (50.0, 95.0, 99.0, 99.9)

Floats = NDArray[np.float64]


class ServiceTime(Protocol):
    """A distribution of service times, in milliseconds."""

    @property
    def mean(self) -> float:
        """The expected time."""

    def from_normal(self, normal: Floats) -> Floats:
        """The times at the quantiles of standard normal values."""


@dataclass(frozen=True)
class Exponential:
    """Exponential times."""

    mean: float

    def from_normal(self, normal: Floats) -> Floats:
        """The times at the quantiles of standard normal values."""
        return -self.mean * np.log(ndtr(-normal))


@dataclass(frozen=True)
class LogNormal:
    """Log-normal times: half of them are below the median; sigma is the standard deviation of their logarithm."""

    median: float
    sigma: float

    @property
    def mean(self) -> float:
        """The expected time."""
        return float(self.median * np.exp(self.sigma**2 / 2))

    def from_normal(self, normal: Floats) -> Floats:
        """The times at the quantiles of standard normal values."""
        return self.median * np.exp(self.sigma * normal)


class Measured:
    """Measured times."""

    def __init__(self, samples: Sequence[float]) -> None:
        """Keep the sorted times; they must be positive numbers."""
        self.samples = np.sort(np.asarray(samples, dtype=np.float64))
        if not len(self.samples) or not np.isfinite(self.samples).all() or self.samples[0] <= 0:
            raise ValueError(f"measured service times must be positive numbers, at least one; got {len(self.samples)}")

    @property
    def mean(self) -> float:
        """The mean of the samples."""
        return float(self.samples.mean())

    def from_normal(self, normal: Floats) -> Floats:
        """The sample at each quantile, without interpolation."""
        places = np.minimum((ndtr(normal) * len(self.samples)).astype(np.int64), len(self.samples) - 1)
        return self.samples[places]


@dataclass(frozen=True)
class Cluster:
    """What is simulated. Rates are requests a second, times milliseconds."""

    service: ServiceTime
    rate: float
    shards: int = 1
    replicas: int = 1
    workers: int = 1
    stragglers: float = 0.0
    slowdown: float = 1.0
    hedge: float = inf
    deadline: float = inf
    merge: float = 0.0
    correlation: float = 0.0
    least_busy: bool = True

    def __post_init__(self) -> None:
        """Refuse what has no answer."""
        counts = {"shards": self.shards, "replicas": self.replicas, "workers": self.workers}
        for name, count in counts.items():
            if count < 1:
                raise ValueError(f"{name} must be at least 1, got {count}")
        if self.rate <= 0 or self.slowdown < 1 or min(self.hedge, self.deadline, self.merge) < 0:
            raise ValueError("the rate must be positive, the slowdown at least 1, and no time may be negative")
        if not (0 <= self.stragglers <= 1 and 0 <= self.correlation <= 1):
            raise ValueError("the share of stragglers and the correlation lie between 0 and 1")
        if self.hedge < inf and self.replicas < 2:
            raise ValueError("a hedged request needs a second replica; set replicas to 2 or more")
        if self.deadline == inf and self.offered_load >= 1:
            raise ValueError(
                f"the work that arrives is {self.offered_load:.2f} times what the replicas can do, so queues would never end; "
                "lower the rate, add replicas or workers, or set a deadline"
            )

    @property
    def slow_replicas(self) -> int:
        """How many replicas are stragglers."""
        return round(self.stragglers * self.shards * self.replicas)

    @property
    def offered_load(self) -> float:
        """The work that arrives at a shard without hedging, as a share of what its replicas can do if each has a fair part."""
        slow = self.slow_replicas / (self.shards * self.replicas)
        speed = self.replicas * self.workers * (1 - slow + slow / self.slowdown)
        return self.rate / 1000 * self.service.mean / speed


@dataclass(frozen=True)
class Outcome:
    """What the requests after the warm-up saw, and what the replicas did in the whole time."""

    latency: Floats  # of requests
    answers: Floats  # times of single shards: at most the deadline
    partial: float  # share of requests
    utilisation: float  # of all workers
    busiest: float  # utilisation of the busiest replica
    second_copies: float  # as a share of the first copies
    extra_load: float  # time spent on answers that were not used, as a share of that on those that were

    def percentile(self, percent: float) -> float:
        """A percentile of the latency."""
        return float(np.percentile(self.latency, percent))

    def record(self) -> dict[str, float]:
        """The figures by name."""
        found = {f"p{percent:g}": self.percentile(percent) for percent in PERCENTILES}
        names = ("partial", "utilisation", "busiest", "second_copies", "extra_load")
        return {"mean": float(self.latency.mean())} | found | {name: getattr(self, name) for name in names}


def simulate(cluster: Cluster, requests: int = 50_000, seed: int = 0) -> Outcome:
    """Let requests arrive and be answered; the same seed gives the same outcome."""
    if requests < 1:
        raise ValueError(f"at least 1 request must arrive, got {requests}")
    return _Simulation(cluster, requests, np.random.default_rng(seed)).outcome()


class _Simulation:
    """The state of all replicas and copies.

    Request r is task r S + s at shard s of S; copy 2 t is the first of task t, copy 2 t + 1 the second.
    """

    def __init__(self, cluster: Cluster, requests: int, random: np.random.Generator) -> None:
        self.cluster, self.requests = cluster, requests
        shards, replicas = cluster.shards, cluster.shards * cluster.replicas
        self.arrivals = np.cumsum(random.exponential(1000 / cluster.rate, requests))
        tasks = requests * shards
        question = np.repeat(random.standard_normal(requests), shards)[:, None]
        own = random.standard_normal((tasks, 2))
        normal = np.sqrt(cluster.correlation) * question + np.sqrt(1 - cluster.correlation) * own
        self.times: list[float] = cluster.service.from_normal(normal).ravel().tolist()
        self.choice: list[float] = random.random(2 * tasks).tolist()
        slow = random.permutation(replicas)[: cluster.slow_replicas]
        self.factor = np.where(np.isin(np.arange(replicas), slow), cluster.slowdown, 1.0).tolist()
        self.queues: list[deque[int]] = [deque() for _ in range(replicas)]
        self.load = [0] * replicas  # copies that wait or are served
        self.running = [0] * replicas
        self.busy = [0.0] * replicas
        self.place = [-1] * (2 * tasks)  # the replica of a copy that was sent
        self.started = bytearray(2 * tasks)
        self.closed = bytearray(tasks)  # answered, or past the deadline
        self.answered = np.full(tasks, inf)
        self.used, self.unused = 0.0, 0.0
        self.ends: list[tuple[float, int]] = []

    def outcome(self) -> Outcome:
        self._run()
        cluster, first = self.cluster, int(WARM_UP * self.requests)
        sent = np.repeat(self.arrivals, cluster.shards)
        waited = np.minimum(self.answered - sent, cluster.deadline).reshape(self.requests, cluster.shards)[first:]
        late = ~np.isfinite(self.answered.reshape(self.requests, cluster.shards)[first:])
        end = max(float(self.arrivals[-1]), self.last)
        utilisation = np.array(self.busy) / (end * cluster.workers)
        return Outcome(
            latency=waited.max(axis=1) + cluster.merge,
            answers=waited.ravel(),
            partial=float(late.any(axis=1).mean()),
            utilisation=float(utilisation.mean()),
            busiest=float(utilisation.max()),
            second_copies=sum(place >= 0 for place in self.place[1::2]) / len(self.closed),
            extra_load=self.unused / self.used if self.used else 0.0,
        )

    def _run(self) -> None:
        """Take what happens next: the end of a service, an arrival, the moment to hedge or the deadline of a request.

        Delays are the same for all requests, so they end in the order of the arrivals and need no heap.
        """
        arrivals: list[float] = [*self.arrivals.tolist(), inf]
        waits: list[tuple[float, Callable[[int, float], None]]] = [(0.0, self._send)]
        if self.cluster.hedge < self.cluster.deadline:
            waits.append((self.cluster.hedge, self._hedge))
        if self.cluster.deadline < inf:
            waits.append((self.cluster.deadline, self._give_up))
        reached = [0] * len(waits)
        moments = [arrivals[0] + delay for delay, _ in waits]
        ends = self.ends
        self.last = 0.0
        while True:
            kind = moments.index(min(moments))
            if ends and ends[0][0] <= moments[kind]:
                self.last, copy = heappop(ends)
                self._finish(copy, self.last)
            elif moments[kind] == inf:
                return
            else:
                delay, happen = waits[kind]
                happen(reached[kind], moments[kind])
                reached[kind] += 1
                moments[kind] = arrivals[reached[kind]] + delay

    def _send(self, request: int, now: float) -> None:
        shards, replicas = self.cluster.shards, self.cluster.replicas
        for shard in range(shards):
            copy = 2 * (request * shards + shard)
            self._queue(copy, self._chosen(copy, shard * replicas, range(replicas)), now)

    def _hedge(self, request: int, now: float) -> None:
        shards, replicas = self.cluster.shards, self.cluster.replicas
        for shard in range(shards):
            task = request * shards + shard
            if not self.closed[task]:
                first = self.place[2 * task] - shard * replicas
                others = [one for one in range(replicas) if one != first]
                self._queue(2 * task + 1, self._chosen(2 * task + 1, shard * replicas, others), now)

    def _give_up(self, request: int, now: float) -> None:
        shards = self.cluster.shards
        for task in range(request * shards, (request + 1) * shards):
            self._close(task)

    def _chosen(self, copy: int, base: int, among: Sequence[int]) -> int:
        """A replica: one with the fewest copies, drawn among equals."""
        if len(among) == 1:
            return base + among[0]
        if self.cluster.least_busy:
            fewest = min(self.load[base + one] for one in among)
            among = [one for one in among if self.load[base + one] == fewest]
        return base + among[int(self.choice[copy] * len(among))]

    def _queue(self, copy: int, replica: int, now: float) -> None:
        self.place[copy] = replica
        self.load[replica] += 1
        if self.running[replica] < self.cluster.workers:
            self._start(copy, replica, now)
        else:
            self.queues[replica].append(copy)

    def _start(self, copy: int, replica: int, now: float) -> None:
        self.running[replica] += 1
        self.started[copy] = 1
        self.times[copy] *= self.factor[replica]
        heappush(self.ends, (now + self.times[copy], copy))

    def _finish(self, copy: int, now: float) -> None:
        task, replica, took = copy // 2, self.place[copy], self.times[copy]
        self.running[replica] -= 1
        self.load[replica] -= 1
        self.busy[replica] += took
        if self.closed[task]:
            self.unused += took
        else:
            self.used += took
            self.answered[task] = now
            self._close(task)
        queue = self.queues[replica]
        while queue:
            waiting = queue.popleft()
            if not self.closed[waiting // 2]:
                self._start(waiting, replica, now)
                break

    def _close(self, task: int) -> None:
        """No further answer counts: copies that wait are not served."""
        if not self.closed[task]:
            self.closed[task] = 1
            for copy in (2 * task, 2 * task + 1):
                if self.place[copy] >= 0 and not self.started[copy]:
                    self.load[self.place[copy]] -= 1


def hedged(cluster: Cluster, hedge: str, requests: int, seed: int) -> Cluster:
    """The cluster with the delay that an option names: none, milliseconds, or a percentile such as p95."""
    if hedge == "none" or cluster.replicas < 2:
        return cluster
    if not hedge.startswith("p"):
        return replace(cluster, hedge=float(hedge))
    answers = simulate(cluster, requests, seed).answers
    return replace(cluster, hedge=float(np.percentile(answers, float(hedge[1:]))))


def study(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One record for each combination of the settings."""
    service = service_time(options)
    requests = options.requests or (5_000 if options.quick else 50_000)
    lists = (options.shards, options.replicas, options.rate, options.stragglers, options.deadline, options.hedge)
    for shards, replicas, rate, stragglers, deadline, hedge in product(*lists):
        if hedge != "none" and replicas < 2:
            continue
        plain = Cluster(
            service, rate, shards, replicas, options.workers, stragglers, options.slowdown, inf, deadline, options.merge,
            options.correlation, not options.random,
        )  # fmt: skip
        cluster = hedged(plain, hedge, requests, options.seed)
        settings = {"shards": shards, "replicas": replicas, "rate": rate, "stragglers": stragglers, "deadline": deadline}
        delay = {"hedge": hedge, "hedge_ms": cluster.hedge}
        yield settings | delay | simulate(cluster, requests, options.seed).record()


def service_time(options: argparse.Namespace) -> ServiceTime:
    """The distribution that the options name."""
    if options.samples is not None:
        lines = options.samples.read_text("utf-8").split()
        try:
            return Measured([float(line) for line in lines])
        except ValueError as error:
            raise ValueError(f"{options.samples}: {error}") from None
    if options.exponential is not None:
        return Exponential(options.exponential)
    return LogNormal(options.median, options.sigma)


def show(record: dict[str, Any], as_json: bool) -> None:
    """One line a combination."""
    if as_json:
        print(json.dumps({name: None if value == inf else value for name, value in record.items()}), flush=True)
        return
    hedge = record["hedge"] if record["hedge_ms"] == inf else f"{record['hedge']} ({record['hedge_ms']:.0f})"
    deadline = "" if record["deadline"] == inf else f"{record['deadline']:.0f}"
    times = "".join(f"{record[f'p{percent:g}']:9.1f}" for percent in PERCENTILES)
    print(
        f"{record['shards']:6} {record['replicas']:8} {record['rate']:8g} {record['stragglers']:9.0%} {deadline:>8} {hedge:>11}"
        f"{times} {record['partial']:8.2%} {record['utilisation']:6.0%} {record['busiest']:7.0%}"
        f" {record['second_copies']:7.1%} {record['extra_load']:7.1%}",
        flush=True,
    )


def list_of(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Reads values between commas."""
    return lambda text: [kind(one) for one in text.split(",")]


def time_or_none(text: str) -> float:
    """Milliseconds; infinite for "none"."""
    return inf if text == "none" else float(text)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="tail latency of a cluster, simulated; lists are written with commas")
    parser.add_argument("--shards", type=list_of(int), default=[1, 8, 32], help="list")
    parser.add_argument("--replicas", type=list_of(int), default=[1, 2], help="replicas of each shard, list")
    parser.add_argument("--rate", type=list_of(float), default=[20.0], help="requests a second, list")
    parser.add_argument("--workers", type=int, default=2, help="copies that a replica serves at a time")
    parser.add_argument("--median", type=float, default=20.0, help="log-normal service times: the median")
    parser.add_argument("--sigma", type=float, default=0.5, help="log-normal service times: deviation of the logarithm")
    parser.add_argument("--exponential", type=float, metavar="MEAN", help="exponential service times")
    parser.add_argument("--samples", type=Path, metavar="FILE", help="measured service times, one number a line")
    parser.add_argument("--correlation", type=float, default=0.0, help="how far the time belongs to the question, 0 to 1")
    parser.add_argument("--stragglers", type=list_of(float), default=[0.0], help="share of slow replicas, list")
    parser.add_argument("--slowdown", type=float, default=4.0, help="factor of slow replicas")
    parser.add_argument("--hedge", type=list_of(str), default=["none", "p95"], help="none, milliseconds or p95, list")
    parser.add_argument("--deadline", type=list_of(time_or_none), default=[inf], help="none or milliseconds, list")
    parser.add_argument("--merge", type=float, default=1.0, help="time of the router")
    parser.add_argument("--random", action="store_true", help="any replica, instead of one with the fewest copies")
    parser.add_argument("--requests", type=int, help="requests that arrive; 50,000, or 5,000 with --quick")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="fewer requests")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line a combination."""
    options = parsed(arguments)
    NEEDS.check()
    if not options.json:
        names = "".join(f"{f'p{percent:g}':>9}" for percent in PERCENTILES)
        print(f"shards replicas   rate/s stragglers deadline       hedge{names}  partial   used busiest second   extra")
    try:
        for record in study(options):
            show(record, options.json)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
