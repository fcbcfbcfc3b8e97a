"""``lexfuse cluster serve`` on a real Ray cluster: the answers of one index, also while replicas die and generations change."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.cluster.cluster_build import ClusterBuilder
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import read_corpus, write_corpus
from lexfuse.index import Index
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings

PORT = 8099
PATIENCE = 60  # seconds, to end a test that would never end
CHANNELS = {"dense": ChannelPlan("fr-legal-dense")}
ASKED = quote("le prêt d'un livre et le retard")
PATHS = [
    f"/v1/search?query={ASKED}&k=5&facets=true",
    f"/v1/search?query={ASKED}&k=3&as_of=2020-06-01&profile=bm25",
    "/v1/search?query=article+L.+4&k=2&filters=code=Code+des+biblioth%C3%A8ques",
    "/v1/search?query=cotisation&profile=no-such-profile",
    f"/v1/explain/lib-4?query={ASKED}",
    "/v1/documents/lib-3",
    "/v1/documents/lib-99",
    "/v1/profiles",
]


class Client:
    """Asks the service from a process in its network."""

    def __init__(self, nodes):
        words = nodes.inside(sys.executable, Path(__file__).with_name("http_client.py"), PORT)
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def wait_for(self, path, done):
        """Ask until an answer is as it should be."""
        until = time.monotonic() + PATIENCE
        while not done(*(found := self("get", path))):
            assert time.monotonic() < until, found

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="module")
def corpus(articles):
    return [replace(document, title=f"{document.title} (1)") for document in read_corpus(articles)]


@pytest.fixture(scope="module")
def builder(corpus, tmp_path_factory):
    """A published cluster of two shards."""
    folder = tmp_path_factory.mktemp("cluster")
    write_corpus(Corpus.of(corpus), folder / "corpus.jsonl")
    builder = ClusterBuilder(store=ClusterStore(str(folder / "law")), work=folder / "work")
    builder.build(folder / "corpus.jsonl", shards=2, channels=CHANNELS)
    return builder


@pytest.fixture(scope="module")
def client(ray_nodes, builder):
    """A service of the cluster, with two replicas of each shard."""
    words = ("--replicas", "2", "--replica-processors", "0.1", "--port", PORT, "--address", ray_nodes.address)
    service = ray_nodes.start("cluster", "serve", builder.store.uri, *words)
    line = service.stdout.readline()
    assert "2 shards, 2 replicas" in line, (line, service.stderr.read())
    with closing(Client(ray_nodes)) as client:
        yield client
    os.kill(ray_nodes.child_of(service), signal.SIGTERM)
    out, errors = service.communicate()
    assert (service.returncode, out) == (0, ""), errors


def without_times(answer):
    """An answer without what may differ between two services; of an error, its code."""
    if {"code", "status", "title"} <= answer.keys():
        return {"code": answer["code"]}
    return {name: value for name, value in answer.items() if name not in ("timing", "generation", "next_cursor")}


def alike(one, other):
    """Whether two answers are equal, numbers up to a millionth."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == pytest.approx(other, rel=1e-6) if isinstance(one, float) else one == other


def test_the_answers_are_those_of_one_index(client, corpus, tmp_path):
    Index.build(tmp_path / "law.index", corpus, channels=CHANNELS).close()
    registry = IndexRegistry.open([IndexPlace.of(tmp_path / "law.index")])
    with TestClient(create_app(ServiceContext(registry, ServiceSettings())), base_url="http://127.0.0.1") as one:
        for path in PATHS:
            status, answer = client("get", path)
            expected = one.get(path)
            assert status == expected.status_code, (path, answer)
            if path == "/v1/profiles":
                assert answer["indexes"][0]["documents"] == 6
                continue
            assert alike(without_times(answer), without_times(expected.json())), (path, answer, expected.json())
    assert client("get", "/")[0] == 200
    assert 'lexfuse_shard_seconds_count{shard="1"}' in client("get", "/metrics")[1]


def test_the_status_shows_the_replicas(client, ray_nodes, builder):
    found = json.loads(ray_nodes.lexfuse("cluster", "status", builder.store.uri, "--address", ray_nodes.address, "--json").stdout)
    assert {name: one["running"] for name, one in found["served"].items()} == {"router": 1, "shard-0": 2, "shard-1": 2}


def test_a_lost_replica_costs_no_answer(client, corpus):
    client("load", [f"/v1/search?query={ASKED}&k=3"])
    replicas = client("kill", "ray::ServeReplica:lexfuse:shard-1")
    for _ in range(10):
        client("get", f"/v1/search?query={ASKED}&k=3")
    statuses, said = client("stop")
    assert len(replicas) == 2
    assert set(statuses) == {"200"}, said
    assert {partial for _, partial, _, _ in said} == {False}
    assert len(said) == 1


def test_a_new_generation_takes_over_without_a_failed_or_mixed_answer(client, builder, corpus, tmp_path):
    write_corpus(Corpus.of(replace(one, title=one.title.replace("(1)", "(2)")) for one in corpus), tmp_path / "new.jsonl")
    client("load", [f"/v1/search?query={ASKED}&k=6"])
    builder.update(tmp_path / "new.jsonl")
    client.wait_for("/readyz", lambda status, answer: status == 200 and answer["indexes"]["law"] == 2)
    client.wait_for(f"/v1/search?query={ASKED}&k=6", lambda status, answer: answer["generation"] == 2)
    statuses, said = client("stop")
    assert set(statuses) == {"200"}, said
    assert {generation for generation, _, _, _ in said} == {1, 2}
    for generation, partial, titles, _ in said:
        assert not partial
        assert all(title.endswith(f"({generation})") for title in titles), said
