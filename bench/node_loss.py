"""A cluster of three Ray nodes loses one: while it is indexed, and while it is served, with one and with two replicas.

    python bench/node_loss.py [--quick] [--json] [--collection fr-labour] [--documents N] [--seconds 60]

Needs root, or unprivileged user namespaces, and `ip` (iproute2): every node has its own network, process and mount namespace on
this machine. Reads a collection from the folder that LEXFUSE_DATA names. The first node is the head of the Ray cluster; it stays.

1. `lexfuse cluster index` with 3 shards. The third node is killed while it builds a shard. The command must succeed, or succeed
   when it is called again; the shards must hold every document once, and give the rankings and scores of the single index.
2. `lexfuse cluster serve`. Clients ask without pause for --seconds. A node that has a router and replicas is killed (SIGKILL of
   all its processes); once more with two replicas, its cable is cut first, so that no connection is closed. Every answer is
   compared with that of the single index, served by `lexfuse serve`:
     right       the same documents, and the same scores within 1e-6
     partial     marked so, because a shard was lost
     retryable   status 503 with Retry-After
     failed      another status, or a lost connection
     wrong       an answer that is not marked, and differs
   Whole answers are back when the last answer that is not right has come; replicas are back when all run again.

A wrong answer, a failed one, or with two replicas any answer that is not right, ends the script with status 1. A ratio of 1 means
that all are as they should be.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from network.enclosure import enclose
from network.ray_node import OUTSIDE, PORT, RayNode, make_bridge, ray_nodes
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour",), packages=("ray",), namespaces=True)

SHARDS, K, TOLERANCE, CLIENTS, QUICK, QUESTIONS = 3, 10, 1e-6, 2, 1_000, 200
SERVICE, SINGLE = 8080, 8081  # ports
BEFORE = 5.0  # seconds of load before a node is lost
PATIENCE = 300.0  # seconds
LEXFUSE = Path(sys.executable).with_name("lexfuse")

Record = dict[str, Any]
Ranking = list[tuple[str, float]]


def get(address: str, port: int, path: str) -> tuple[int, Mapping[str, str], Any]:
    """The status, headers and JSON of an answer."""
    connection = http.client.HTTPConnection(address, port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        raw = answer.read()
        return answer.status, dict(answer.getheaders()), json.loads(raw) if raw else None
    finally:
        connection.close()


def ranking(answer: Mapping[str, Any]) -> Ranking:
    """Ids and scores of an answer."""
    return [(result["id"], result["score"]) for result in answer["results"]]


def is_same(ours: Ranking, theirs: Ranking) -> bool:
    """Whether two rankings have the same documents in the same order with the same scores."""
    return len(ours) == len(theirs) and all(
        one == other and abs(score - expected) <= TOLERANCE * max(1.0, abs(expected))
        for (one, score), (other, expected) in zip(ours, theirs, strict=True)
    )


@dataclass
class Load:
    """Clients that ask without pause, and what they were answered."""

    address: str
    expected: Mapping[str, Ranking]
    kinds: Counter[str] = field(default_factory=Counter)
    odd: list[tuple[float, str]] = field(default_factory=list)  # the time and the kind of every answer that is not right
    slowest: float = 0.0
    ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Load:
        self._threads = [threading.Thread(target=self._ask, args=(at,), daemon=True) for at in range(CLIENTS)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, first: int) -> None:
        paths = list(self.expected)
        at = first * len(paths) // CLIENTS
        while not self.ended.is_set():
            path = paths[at % len(paths)]
            began = time.monotonic()
            kind = self._kind(path)
            self.kinds[kind] += 1
            self.slowest = max(self.slowest, time.monotonic() - began)
            if kind != "right":
                self.odd.append((time.monotonic(), kind))
            at += 1

    def _kind(self, path: str) -> str:
        try:
            status, headers, answer = get(self.address, SERVICE, path)
        except (OSError, http.client.HTTPException) as error:
            return f"failed: {type(error).__name__}"
        if status == 503 and any(name.lower() == "retry-after" for name in headers):
            return "retryable"
        if status != 200:
            return f"failed: status {status}"
        if answer["partial"]:
            return "partial"
        return "right" if is_same(ranking(answer), self.expected[path]) else "wrong"


# The data


def prepared(options: argparse.Namespace, home: Path) -> tuple[Path, Path, list[str]]:
    """A corpus, the single index of it, and questions."""
    from lexfuse import Index
    from lexfuse.data.corpus import Corpus
    from lexfuse.data.formats.beir import read_collection
    from lexfuse.data.formats.file_format import write_corpus
    from lexfuse.text.annotation import with_languages

    found = read_collection(Path(os.environ["LEXFUSE_DATA"], options.collection))
    most = options.documents or (QUICK if options.quick else None)
    documents = sorted(with_languages(found.corpus), key=lambda document: document.id)[:most]
    write_corpus(Corpus.of(documents), home / "corpus.jsonl")
    Index.build(home / "single.index", documents).close()
    if found.queries is None:
        raise SystemExit(f"{options.collection} has no queries")
    judged_queries = set(found.qrels["test"].queries)
    texts = [query.text for query in found.queries if query.id in judged_queries][:QUESTIONS]
    return home / "corpus.jsonl", home / "single.index", texts


def expected_answers(index: Path, texts: Sequence[str], home: Path, environment: dict[str, str]) -> dict[str, Ranking]:
    """The answers of the single index, by path."""
    command = [LEXFUSE, "serve", index, "--host", OUTSIDE, "--port", str(SINGLE)]
    with (home / "single.log").open("w") as log:
        service = subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert service.stdout is not None
        if " on http" not in service.stdout.readline():
            raise SystemExit((home / "single.log").read_text())
        paths = [f"/v1/search?{urlencode({'query': text, 'k': K})}" for text in texts]
        return {path: ranking(get(OUTSIDE, SINGLE, path)[2]) for path in paths}
    finally:
        service.terminate()
        service.wait()


# Indexing


def indexed(
    nodes: list[RayNode], corpus: Path, home: Path, environment: dict[str, str], *, silently: bool = False
) -> Iterator[Record]:
    """Build the cluster; the last node is killed while it builds a shard, and replaced."""
    words = [LEXFUSE, "cluster", "index", corpus, home / "law", "--shards", str(SHARDS), "--threads", "1"]
    words += ["--force"] * silently  # in place of the cluster that the other case has built
    words += ["--address", f"{nodes[0].address}:{PORT}"]
    began = time.monotonic()
    command = nodes[0].start(*words, errors=home / "index.log")
    building = home / f"node{nodes[-1].number}" / "cache" / "cluster-builds"
    while command.poll() is None and not any(building.glob("*/*")):
        time.sleep(0.01)
    if command.poll() is not None:
        raise SystemExit(f"the last node built no shard before the end:\n{(home / 'index.log').read_text()}")
    nodes[-1].kill(silently=silently)
    calls = 1
    while command.wait(PATIENCE) and calls < 3:
        command, calls = nodes[0].start(*words, errors=home / "index.log"), calls + 1
    if command.returncode:
        raise SystemExit((home / "index.log").read_text())
    case = f"cluster index, a node {'cut off' if silently else 'killed'}: seconds to the end"
    yield record(case, time.monotonic() - began, "calls", calls, 1.0)
    nodes[-1] = RayNode(nodes[-1].number, home, environment)


def compared(home: Path, index: Path, texts: Sequence[str]) -> Iterator[Record]:
    """The documents of the shards, and their rankings, compared with those of the single index."""
    from lexfuse import Index
    from lexfuse.cluster.cluster_index import ClusterIndex
    from lexfuse.cluster.local_copy import LocalCopies
    from lexfuse.cluster.store import ClusterStore

    store = ClusterStore(str(home / "law"))
    manifest = store.manifest()
    copies = LocalCopies(store, home / "copies")
    folders = [copies.shard(manifest, shard) for shard in range(SHARDS)]
    ids: list[str] = []
    for folder in folders:
        with Index(folder) as shard:
            ids += shard.snapshot.ids.names
    with Index(index) as single, ClusterIndex.of(folders) as cluster:
        expected = sorted(single.snapshot.ids.names)
        if sorted(ids) != expected:
            raise SystemExit(f"the shards have {len(ids)} documents ({len(set(ids))} different), expected {len(expected)}")
        yield record("documents of the shards", len(ids), "single index", len(expected), len(ids) / len(expected))
        same = sum(
            is_same(*([(hit.id, hit.score) for hit in one.search(text, 100)] for one in (cluster, single))) for text in texts
        )
        yield record("questions with the same 100 documents and scores", same, "single index", len(texts), same / len(texts))
        if same < len(texts):
            raise SystemExit("rankings differ")


# Serving


def served(
    nodes: list[RayNode], home: Path, expected: Mapping[str, Ranking], replicas: int, seconds: float, *, silently: bool
) -> Iterator[Record]:
    """Serve the cluster, lose a node under load, and judge every answer."""
    head, address = nodes[0], f"{nodes[0].address}:{PORT}"
    words = [LEXFUSE, "cluster", "serve", home / "law", "--replicas", str(replicas), "--replica-processors", "0.1"]
    words += ["--routers", "2", "--host", head.address, "--port", str(SERVICE), "--address", address]
    service = head.start(*words, errors=home / "serve.log")
    assert service.stdout is not None
    if " on http" not in (line := service.stdout.readline()):
        raise SystemExit(f"{line}{(home / 'serve.log').read_text()}")
    victim = next(node for node in nodes[1:] if node.processes("ServeReplica:lexfuse:router"))
    with Load(head.address, expected) as load:
        time.sleep(BEFORE)
        before = sum(load.kinds.values())
        victim.kill(silently=silently)
        lost = time.monotonic()
        back = _replicas_back(head, home, address, replicas, lost + seconds)
        time.sleep(max(0.0, lost + seconds - BEFORE - time.monotonic()))
    stop(service, head)
    whole = max((at for at, _ in load.odd), default=lost) - lost
    yield from judged(load, replicas, silently, before, whole, None if back is None else back - lost)


def _replicas_back(head: RayNode, home: Path, address: str, replicas: int, until: float) -> float | None:
    """When all replicas and routers run again."""
    wanted = {"router": 2, **{f"shard-{shard}": replicas for shard in range(SHARDS)}}
    while time.monotonic() < until:
        done = head.run(LEXFUSE, "cluster", "status", home / "law", "--address", address, "--json", check=False)
        if done.returncode == 0:
            found = json.loads(done.stdout)["served"]
            if {name: one["running"] for name, one in found.items()} == wanted and all(
                one["status"] == "HEALTHY" for one in found.values()
            ):
                return time.monotonic()
    return None


def stop(service: subprocess.Popen[str], head: RayNode) -> None:
    """End the service in order."""
    for pid in head.processes("cluster\0serve"):
        os.kill(pid, signal.SIGTERM)
    service.wait(PATIENCE)


def judged(load: Load, replicas: int, silently: bool, before: int, whole: float, back: float | None) -> Iterator[Record]:
    """One record per kind of answer; the script fails if there is a kind that must not be."""
    case = f"{replicas} replica{'s' * (replicas > 1)}, a node {'cut off' if silently else 'killed'}"
    total = sum(load.kinds.values())
    for kind in ("right", "partial", "retryable", "wrong"):
        yield record(f"{case}: {kind}", load.kinds[kind], "answers", total, load.kinds[kind] / total)
    failed = {kind: count for kind, count in load.kinds.items() if kind.startswith("failed")}
    yield record(f"{case}: failed", sum(failed.values()), "answers", total, sum(failed.values()) / total)
    yield record(f"{case}: answers after the loss", total - before, "answers", total, (total - before) / total)
    yield record(f"{case}: seconds until whole answers are back", whole, "slowest answer", load.slowest, 1.0)
    yield record(f"{case}: seconds until all replicas are back", -1.0 if back is None else back, "", 0, 1.0)
    bad = failed | ({"wrong": load.kinds["wrong"]} if load.kinds["wrong"] else {})
    if replicas > 1 and load.kinds["right"] < total:
        bad |= {kind: count for kind, count in load.kinds.items() if kind != "right"}
    if bad:
        raise SystemExit(f"{case}: {bad}")


# The report


def record(metric: str, ours: float, peer: str, theirs: float, ratio: float) -> Record:
    """One line of the report."""
    return {"metric": metric, "ours": ours, "peer": peer, "theirs": theirs, "ratio": ratio}


def show(found: Record, as_json: bool) -> None:
    """One line a figure."""
    if as_json:
        print(json.dumps(found), flush=True)
        return
    ours, theirs = (
        f"{found[side]:,.1f}" if isinstance(found[side], float) else f"{found[side]:,}" for side in ("ours", "theirs")
    )
    print(f"{found['metric']:<64} {ours:>9}  {theirs:>9} {found['peer']}", flush=True)


def measured(options: argparse.Namespace, home: Path) -> Iterator[Record]:
    """All figures."""
    environment = os.environ | {
        "HOME": str(home),
        "LEXFUSE_CACHE": str(home / "machine" / "cache"),
        "LEXFUSE_SERVE_REQUESTS_PER_MINUTE": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": os.urandom(32).hex(),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    corpus, single, texts = prepared(options, home)
    cases = [(1, False), (2, False), (2, True)]
    with ray_nodes(3, home, environment) as nodes:
        for silently in (False, True):
            yield from indexed(nodes, corpus, home, environment, silently=silently)
            yield from compared(home, single, texts)
        if options.index_only:
            return
        expected = expected_answers(single, texts, home, environment)
        for replicas, silently in cases:
            yield from served(nodes, home, expected, replicas, options.seconds, silently=silently)
            for at, node in enumerate(nodes):
                if not node.is_up:
                    nodes[at] = RayNode(node.number, home, environment)


def main() -> None:
    """Print every figure as it is measured."""
    parser = argparse.ArgumentParser(description="a cluster of three Ray nodes that loses one")
    parser.add_argument("--collection", default="fr-labour", help="a folder in LEXFUSE_DATA with test questions")
    parser.add_argument("--documents", type=int, help="how many, the first by their ids; all if not given")
    parser.add_argument("--seconds", type=float, default=60.0, help="of load after the loss")
    parser.add_argument("--index-only", action="store_true", help="lose nodes that build shards, and serve nothing")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} documents, 30 seconds of load")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--keep", action="store_true", help="keep logs and the store, and say where")
    options = parser.parse_args()
    NEEDS.on([options.collection]).check()
    enclose()
    make_bridge()
    if options.quick:
        options.seconds = min(options.seconds, 30.0)
    home = Path(tempfile.mkdtemp(prefix="loss-"))
    try:
        for found in measured(options, home):
            show(found, options.json)
    finally:
        if options.keep:
            print(f"logs: {home}", file=sys.stderr)
        else:
            shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
