"""Fuzzed requests to the real service: the API, the pages, uploads, what is no HTTP, and the assistants' protocol.

    python bench/hardening/request_fuzz.py [--requests 100000] [--seed 1] [--clients 4]

`lexfuse serve` and `lexfuse mcp` run on a small index with their usual limits, but without a limit of requests a minute. The
addresses of the API come from its OpenAPI document. A process of its own probes /healthz all the time. Prints one JSON line:
requests, answers by kind and status, failures (5xx; in the protocol an internal error, or the end of the process), the slowest
/healthz, and how many lines of the log are about errors that nobody expected. The first failures are shown on standard error.
Ends with 1 if there is a failure, or if /healthz took a second. The same seed sends the same requests.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from random import Random
from socket import create_connection, socket

from assistants import AssistantFuzz
from request_maker import Made, RequestMaker

from service import PATIENCE, Probe, Served, served

HEALTHY = 1000.0  # milliseconds that /healthz may take
SHOWN = 10  # failures
ASSISTANTS = 0.05  # share of the requests that go to the assistants' protocol


@dataclass
class Tally:
    """What came back; many threads count."""

    by_kind: Counter[str] = field(default_factory=Counter)
    by_status: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, made: Made, status: str) -> None:
        """Count an answer; a failure is kept with what was sent."""
        with self.lock:
            self.by_kind[made.kind] += 1
            self.by_status[status] += 1
            if status.startswith("5"):
                self.failures.append(f"{status} {made.kind} {made.raw[:2000]!r}")


class Client:
    """One connection after another: each is used until the service closes it."""

    def __init__(self, service: Served) -> None:
        """Connect when something is sent."""
        self.service = service
        self._open: socket | None = None

    def send(self, made: Made) -> str:
        """The status of the answer, or that the service closed the connection without one."""
        for attempt in (1, 2):
            fresh = self._open is None
            try:
                return self._sent(made)
            except (OSError, HTTPException):
                self.close()
                if fresh or attempt == 2:  # a connection that was kept may have been closed meanwhile
                    return "closed"
        return "closed"

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _sent(self, made: Made) -> str:
        if self._open is None:
            self._open = create_connection((self.service.host, self.service.port), timeout=PATIENCE)
        self._open.sendall(made.raw)
        if not made.whole:
            self._open.shutdown(1)  # there is no more to come, so the service need not wait for it
        response = HTTPResponse(self._open, method=made.method)
        response.begin()
        response.read()
        if not made.whole or response.will_close:
            self.close()
        return str(response.status)


def fuzz(service: Served, requests: RequestMaker, seed: int, count: int, tally: Tally) -> None:
    """Send so many requests on one connection after another."""
    random, client = Random(seed), Client(service)  # noqa: S311 - no secret
    for _ in range(count):
        made = requests.made(random)
        tally.count(made, client.send(made))
    client.close()


def main() -> None:
    """Send them, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--folder", type=Path, help="where the index and the log stay; a temporary folder if not given")
    options = parser.parse_args()
    tally, start = Tally(), time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as root,
        served(options.folder or Path(root)) as service,
        Probe(service.host, service.port) as probe,
    ):
        requests = RequestMaker.of(service)
        spoken = round(ASSISTANTS * options.requests)
        share = (options.requests - spoken) // options.clients
        with ThreadPoolExecutor(options.clients + 1) as clients:
            running = [
                clients.submit(fuzz, service, requests, 1000 * options.seed + at, share, tally) for at in range(options.clients)
            ]
            assistants = AssistantFuzz(service.index, options.seed)
            running.append(clients.submit(assistants.run, options.requests - share * options.clients))
            for one in running:
                one.result()
        alive, unexpected, figures = service.process.poll() is None, service.unexpected(), probe.figures
        log = service.log.stat().st_size
    failures = tally.failures + assistants.failures
    print(*failures[:SHOWN], *unexpected[:SHOWN], sep="\n", file=sys.stderr)
    told = {
        "requests": sum(tally.by_kind.values()) + assistants.sent, "seed": options.seed,
        "seconds": round(time.perf_counter() - start),
        "kinds": dict(tally.by_kind.most_common()) | {"assistants": assistants.sent},
        "statuses": dict(sorted(tally.by_status.items())), "failures": len(failures), "unexpected": len(unexpected),
        "alive": alive, "healthz": figures, "log_bytes": log,
    }  # fmt: skip
    print(json.dumps(told))
    if failures or unexpected or not alive or figures["failed"] or figures["max_ms"] >= HEALTHY:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
