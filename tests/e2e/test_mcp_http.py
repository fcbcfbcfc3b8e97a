"""`lexfuse mcp --http`: a real server and a real client of the protocol, with the keys and checks of the service."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from launcher import lexfuse
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from lexfuse import Index

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = Path(sys.executable).parent / "lexfuse"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
JSON = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mcp")
    done = lexfuse("index", EXAMPLES / "articles.csv", folder / "library.index")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def key(folder):
    made = lexfuse("keys", "add", "assistant", "--scope", "read", "--file", folder / "keys.toml")
    return re.search(r"lf_[\w-]+", made.stdout)[0]


@pytest.fixture(scope="module")
def url(folder, key):
    """The address of a server that wants a key; at the end it gets a signal, and ends in order."""
    options = ["--http", "--port", "0", "--keys", folder / "keys.toml", "--no-anonymous-read"]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [COMMAND, "mcp", folder / "library.index", *options], stdout=subprocess.PIPE, stderr=log, text=True
        )
    with process:
        yield re.search(r"http://\S+/mcp", process.stdout.readline())[0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) in (0, 143), (folder / "log.txt").read_text("utf-8")


def test_a_client_finds_what_the_index_finds(url, key, folder):
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"})
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(client),
        portal.wrap_async_context_manager(Client(streamable_http_client(url, http_client=client))) as assistant,
    ):
        assert "search" in [tool.name for tool in portal.call(assistant.list_tools).tools]
        found = portal.call(assistant.call_tool, "search", {"query": "confidentiel retard de prêt", "k": 3}).structured_content
        refused = portal.call(assistant.call_tool, "search", {"query": "prêt", "k": 1000})
    with Index.open(folder / "library.index") as index:
        expected = [(hit.id, hit.score) for hit in index.search("confidentiel retard de prêt", 3)]
    assert [(one["id"], one["score"]) for one in found["results"]] == expected
    assert refused.is_error
    log = (folder / "log.txt").read_text("utf-8")
    assert '"call": "search"' in log or '"call":"search"' in log
    assert "confidentiel" not in log


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer lf_wrong"}, 401),
        ({"KEY": "", "Host": "evil.example"}, 403),
        ({"KEY": "", "Accept": "text/plain"}, 406),
    ],
)
def test_requests_that_are_refused(url, key, headers, status):
    given = {name: value for name, value in headers.items() if name != "KEY"}
    sent = JSON | ({"Authorization": f"Bearer {key}"} if "KEY" in headers else {}) | given
    assert httpx.post(url, json=LIST, headers=sent).status_code == status


def test_no_stream_is_opened_and_bad_json_is_an_error_of_the_protocol(url, key):
    headers = JSON | {"Authorization": f"Bearer {key}"}
    assert httpx.get(url, headers=headers).status_code == 405
    answer = httpx.post(url, content=b"{", headers=headers | {"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)


def test_options_of_http_need_it(folder):
    done = lexfuse("mcp", folder / "library.index", "--port", "0", "--no-anonymous-read")
    assert done.returncode == 2
    assert "--port, --anonymous-read is for a server of HTTP" in " ".join(done.stderr.split())


def test_a_port_that_is_taken(folder, url):
    done = lexfuse("mcp", folder / "library.index", "--http", "--port", url.rpartition(":")[2].removesuffix("/mcp"))
    assert done.returncode == 2
    assert json.dumps("Traceback") not in done.stderr
