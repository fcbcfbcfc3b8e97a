"""The real service on a small index, in processes of their own: `lexfuse serve`, `lexfuse mcp`, and a probe of /healthz."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.storage.index_folder import IndexFolder

COMMAND = Path(sys.executable).parent / "lexfuse"
PATIENCE = 120.0  # seconds after which no answer will come
PAUSE = 0.01  # seconds between two probes
LONG = "\n\n".join(f"{n}. Le loyer est dû par le locataire, voir l'article L. {n % 50} du code civil." for n in range(1, 4600))


def documents() -> list[Document]:
    """Articles that cite each other, decisions, and one document of 350 kB.

    >>> len(documents())
    53
    """
    articles = [
        Document(
            f"a{n}", f"Code civil, article L{n}", f"Le loyer du bail {n}. Voir l'article L. {n + 1}.", "fr", DocumentKind.STATUTE,
            "Code civil", f"L{n}", headings=("Livre Ier",), status=DocumentStatus.IN_FORCE,
        )
        for n in range(1, 51)
    ]  # fmt: skip
    decisions = [
        Document(f"d {n}", f"Arrêt {n}", "1. Le bail.\n\n2. Le loyer est dû.", "fr", DocumentKind.DECISION) for n in (1, 2)
    ]
    return [*articles, *decisions, Document("long", "Un long arrêt", LONG, "fr", DocumentKind.DECISION)]


@dataclass(frozen=True, slots=True)
class Served:
    """A service that runs: where it listens, a key that may write, its index and its log."""

    host: str
    port: int
    key: str
    index: Path
    log: Path
    process: subprocess.Popen[str]

    def unexpected(self) -> list[str]:
        """Lines of the log about errors that nobody expected."""
        lines = [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]
        return [json.dumps(line) for line in lines if line["level"] == "error"]


@contextmanager
def served(root: Path, *settings: str) -> Iterator[Served]:
    """Serve a new index below a folder, without a limit of requests; the service is killed at the end."""
    index, log = root / "law.index", root / "log.jsonl"
    IndexFolder.create(index, documents=documents()).close()
    key = add_key(root / "keys.toml", "tester", KeyScope.WRITE)
    arguments = [str(index), "--port", "0", "--keys", str(root / "keys.toml"), "--requests-per-minute", "0", *settings]
    with log.open("w") as errors:
        process = subprocess.Popen([str(COMMAND), "serve", *arguments], stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        found = re.search(r" on http://(\S+):(\d+) ", next(process.stdout or iter(()), ""))
        if not found:
            raise SystemExit(f"the service did not start: {log.read_text('utf-8')}")
        yield Served(found[1], int(found[2]), key, index, log, process)
    finally:
        process.kill()
        process.communicate()


class Probe:
    """Asks for /healthz again and again, from a process that does nothing else."""

    def __init__(self, host: str, port: int) -> None:
        """Prepare it; it begins when it is entered."""
        self._count: Synchronized[int] = multiprocessing.Value("q", 0)
        self._failed: Synchronized[int] = multiprocessing.Value("q", 0)
        self._slowest: Synchronized[float] = multiprocessing.Value("d", 0.0)
        values = (host, port, self._count, self._failed, self._slowest)
        self._process = multiprocessing.get_context("fork").Process(target=_probe, args=values, daemon=True)

    def __enter__(self) -> Probe:
        self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.join()

    @property
    def figures(self) -> dict[str, float]:
        """How many probes there were, how many failed, and the slowest in milliseconds."""
        return {"probes": self._count.value, "failed": self._failed.value, "max_ms": round(1000 * self._slowest.value, 1)}

    def settle(self) -> None:
        """Wait until the probe that runs has its answer."""
        until = self._count.value + 1
        while self._count.value < until and self._process.is_alive():
            time.sleep(PAUSE)

    def restart(self) -> None:
        """Forget the slowest so far."""
        self._slowest.value = 0.0


def _probe(host: str, port: int, count: Synchronized[int], failed: Synchronized[int], slowest: Synchronized[float]) -> None:
    while True:
        start = time.perf_counter()
        try:
            connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
            connection.request("GET", "/healthz")
            fine = connection.getresponse().status == 200
            connection.close()
        except OSError:
            fine = False
        count.value += 1
        failed.value += not fine
        slowest.value = max(slowest.value, time.perf_counter() - start)
        time.sleep(PAUSE)
