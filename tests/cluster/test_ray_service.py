"""``lexfuse cluster serve`` on a real Ray cluster: the answers of one index, also when replicas die or load grows."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from certificate import self_made
from fastapi.testclient import TestClient

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import read_corpus, write_corpus
from lexfuse.index import Index
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings

PORT = 8099
FLOOD = 40
QUESTION = "confidentiel4711"
PATIENCE = 240  # seconds, to end a test that would never end
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

    def __init__(self, nodes, certificate):
        words = nodes.inside(sys.executable, Path(__file__).with_name("http_client.py"), PORT, certificate)
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

    def wait_until(self, done, *command):
        """Repeat a command until its answer is as it should be."""
        until = time.monotonic() + PATIENCE
        while not done(found := self(*command)):
            assert time.monotonic() < until, found
        return found

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
def client(ray_nodes, builder, tmp_path_factory):
    """A service of the cluster over HTTPS, with two routers and two replicas of each shard, three under load."""
    certificate, key = self_made(tmp_path_factory.mktemp("tls"))
    words = ["--replicas", "2", "--max-replicas", "3", "--upscale-seconds", "0", "--replica-processors", "0.1", "--routers", "2"]
    words += ["--shard-seconds", str(PATIENCE), "--port", PORT, "--address", ray_nodes.address]
    service = ray_nodes.start("cluster", "serve", builder.store.uri, *words, "--tls-certificate", certificate, "--tls-key", key)
    line = service.stdout.readline()
    assert f"on https://127.0.0.1:{PORT} (2 shards, 2 replicas)" in line, (line, service.stderr.read())
    with closing(Client(ray_nodes, certificate)) as client:
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
    assert re.search(r'lexfuse_shard_seconds_count\{router="\w+",shard="1"\}', client("get", "/metrics")[1])


def test_the_status_shows_the_replicas(client, ray_nodes, builder):
    words = ("cluster", "status", builder.store.uri, "--address", ray_nodes.address)
    until = time.monotonic() + PATIENCE
    while not settled(served := json.loads(ray_nodes.lexfuse(*words, "--json").stdout)["served"]):
        assert time.monotonic() < until, served
    assert served.keys() == {"router", "shard-0", "shard-1"}
    assert "shard-1" in ray_nodes.lexfuse(*words).stdout


def settled(served):
    """Whether every deployment has its two replicas, or the third that earlier load started, with the first generation open."""
    return all(
        one["status"] == "HEALTHY" and one["running"] in (2, 3) and one["generations"] == [[1]] * one["running"]
        for one in served.values()
    )


@pytest.mark.parametrize("name", ["shard-1", "router"])
def test_a_lost_replica_or_router_costs_no_answer(client, name):
    client("load", [f"/v1/search?query={ASKED}&k=3"])
    replicas = client("kill", f"ray::ServeReplica:lexfuse:{name}")
    for _ in range(10):
        client("get", f"/v1/search?query={ASKED}&k=3")
    statuses, said = client("stop")
    assert len(replicas) >= 2  # earlier load may have started a third
    assert set(statuses) == {"200"}, said
    assert {partial for _, partial, _, _ in said} == {False}
    assert len(said) == 1


def test_a_new_generation_takes_over_without_a_failed_or_mixed_answer(client, builder, corpus, tmp_path):
    write_corpus(Corpus.of(replace(one, title=one.title.replace("(1)", "(2)")) for one in corpus), tmp_path / "new.jsonl")
    client("load", [f"/v1/search?query={ASKED}&k=6"])
    builder.update(tmp_path / "new.jsonl")
    client.wait_for("/readyz", lambda status, answer: status == 200 and answer["indexes"]["law"] == 2)
    client.wait_for(f"/v1/search?query={ASKED}&k=6", lambda status, answer: status == 200 and answer["generation"] == 2)
    statuses, said = client("stop")
    assert set(statuses) == {"200"}, said
    assert {generation for generation, _, _, _ in said} <= {1, 2}
    for generation, partial, titles, _ in said:
        assert not partial
        assert all(title.endswith(f"({generation})") for title in titles), said


def test_load_starts_replicas_and_what_is_too_much_is_refused(client):
    blocked = "ray::ServeReplica:lexfuse:shard-0"
    client("signal", blocked, signal.SIGSTOP)  # nothing is answered from here on
    client("flood", f"/v1/search?query={ASKED}&k=2", FLOOD)
    room = 2 * (ServiceSettings().workers + 4)  # of two routers, by their environment
    refused = client.wait_until(lambda answers: len(answers) >= FLOOD - room, "flooded")
    assert {(status, headers["retry-after"], answer["code"]) for status, headers, answer in refused[: FLOOD - room]} == {
        (503, "1", "overload")
    }
    client.wait_until(lambda found: len(found) == 3, "signal", blocked, 0)  # the third may have been started by earlier load
    client("signal", blocked, signal.SIGCONT)
    answers = client.wait_until(lambda answers: len(answers) == FLOOD, "flooded")
    assert {(status, answer["partial"]) for status, _, answer in answers if status != 503} == {(200, False)}


def test_no_log_has_a_question(client, ray_nodes):
    assert client("get", f"/v1/search?query={QUESTION}&k=2")[0] == 200
    assert client("get", f"/{QUESTION}?q={QUESTION}")[0] == 404
    assert client("get", f"/v1/search?query={QUESTION}&no-such=1")[0] == 422
    logs = {path: path.read_text("utf-8", "replace") for path in ray_nodes.logs.glob("session_2*/logs/**/*") if path.is_file()}
    assert any('"event":"request"' in text for text in logs.values())
    assert [path for path, text in logs.items() if QUESTION in text] == []
