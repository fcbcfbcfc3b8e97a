"""Clients that open connections and then neither ask nor read: they are cut, do not block new ones, and do not fill the log."""

import json
import re
import resource
import select
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from lexfuse.data.document import Document
from lexfuse.storage.index_folder import IndexFolder

COMMAND = Path(sys.executable).parent / "lexfuse"
PATIENCE = 600.0  # seconds after which something will not happen any more
DESCRIPTORS = 128
HEAD = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("connections") / "law.index"
    IndexFolder.create(folder, documents=[Document("long", text="Le loyer du bail. " * 20_000, language="fr")]).close()
    return folder


@contextmanager
def served(index, log, *settings, descriptors=None):
    """`lexfuse serve` with a limit of open files: its address and its log."""

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors // 2, descriptors))

    with log.open("w") as errors:
        process = subprocess.Popen(
            [str(COMMAND), "serve", str(index), "--port", "0", "--requests-per-minute", "0", *settings],
            stdout=subprocess.PIPE, stderr=errors, text=True, preexec_fn=limit if descriptors else None,
        )  # fmt: skip
    try:
        found = re.search(r" on (http://\S+)", next(process.stdout, ""))
        assert found, log.read_text("utf-8")
        yield found[1]
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def hasty(index, tmp_path_factory):
    """A service that does not wait long: its host and port."""
    with served(index, tmp_path_factory.mktemp("log") / "log.txt", "--header-seconds", "0.3") as address:
        host, _, port = address.removeprefix("http://").rpartition(":")
        yield host, int(port)


def connected(place):
    return socket.create_connection(place, timeout=PATIENCE)


def rest(connection):
    """What comes until the service closes the connection."""
    received = b""
    try:
        while piece := connection.recv(65_536):
            received += piece
    except ConnectionResetError:
        pass
    return received


@contextmanager
def answered(place, sent, told):
    """A connection on which something was sent, when the answer tells the words; what came so far.

    A busy machine may send so late that the service has cut the connection by then: it is sent again.
    """
    for _ in range(100):
        with connected(place) as connection:
            received = b""
            try:
                connection.sendall(sent)
                while told not in received and (piece := connection.recv(65_536)):
                    received += piece
            except (ConnectionResetError, BrokenPipeError):
                pass
            if told in received:
                yield connection, received
                return
            assert received == b""
    pytest.fail("no answer")


def test_idle_connections_keep_nobody_out_and_the_log_stays_short(index, tmp_path):
    """As many idle connections as there are descriptors, twice over; none of them ends by itself."""
    log = tmp_path / "log.txt"
    settings = ("--header-seconds", "100000", "--reload-seconds", "0")
    with served(index, log, *settings, descriptors=DESCRIPTORS) as address, ExitStack() as opened:
        host, _, port = address.removeprefix("http://").rpartition(":")
        for _ in range(2 * DESCRIPTORS):
            opened.enter_context(connected((host, int(port))))
        assert httpx.get(f"{address}/healthz", timeout=PATIENCE).status_code == 200
        assert httpx.get(f"{address}/v1/search", params={"query": "loyer"}, timeout=PATIENCE).json()["results"][0]["id"] == "long"
        lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    events = [line["event"] for line in lines]
    assert len(events) <= 2, events
    [reached] = [line for line in lines if "limit of connections" in line["event"]]
    assert 1 < reached["most"] < DESCRIPTORS


def test_who_sends_nothing_or_half_a_head_is_cut(hasty):
    for sent in (b"", b"GET", HEAD):
        with connected(hasty) as connection:
            connection.sendall(sent)
            assert rest(connection).count(b"200 OK") == 0
    with answered(hasty, HEAD + b"\r\n" + HEAD, b"200 OK") as (connection, _):  # a whole request, and half of the next
        assert b"200 OK" not in rest(connection)


def dribbled(connection):
    """Send byte after byte until the service says something or closes the connection; what it says."""
    sent = 0
    while not select.select([connection], [], [], 0.02)[0]:
        connection.sendall(b"a")
        sent += 1
        assert sent < PATIENCE / 0.02
    return rest(connection)


def test_bytes_that_come_one_by_one_do_not_extend_the_time(hasty):
    with connected(hasty) as connection:
        connection.sendall(HEAD + b"x: ")
        assert dribbled(connection) == b""


def test_the_rest_of_a_body_that_nobody_reads_is_not_waited_for(hasty):
    asked = b"POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 900000000\r\n\r\n"
    with answered(hasty, asked, b"}") as (connection, received):
        assert b" 413 " in received
        assert dribbled(connection) == b""


def test_who_does_not_read_is_cut(hasty):
    """Many long answers are asked for and none is read; that the connection is gone is seen without reading."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect(hasty)
        connection.sendall(b"GET /v1/documents/long HTTP/1.1\r\nhost: localhost\r\n\r\n" * 20)
        watch = select.poll()
        watch.register(connection, 0)
        assert watch.poll(1000 * PATIENCE)


def test_a_body_in_tiny_chunks_is_refused(hasty):
    head = b"POST /v1/cite HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    # Without an end: only a refusal can be the answer.
    with answered(hasty, head + b"1\r\n \r\n" * 2000, b"\r\n") as (_, received):
        assert received.startswith(b"HTTP/1.1 400 ")


def test_no_http_after_an_answer_is_cut(hasty):
    asked = b"POST /healthz HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"  # answered before its body
    with answered(hasty, asked, b" 405 ") as (connection, _):
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(b"no chunk\r\n")
        rest(connection)
    assert httpx.get(f"http://{hasty[0]}:{hasty[1]}/healthz", timeout=PATIENCE).status_code == 200
