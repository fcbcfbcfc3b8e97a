"""The service as a process of its own: it starts, answers, reloads, ends in order, and refuses bad settings."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import launcher
import pytest
from typer.testing import CliRunner

from lexfuse.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = Path(sys.executable).parent / "lexfuse"
PATIENCE = 600.0  # seconds after which something will not happen any more


def lexfuse(*arguments):
    done = launcher.lexfuse(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def environment():
    """That of this process without settings of a service, but with limits that a busy machine does not reach."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("LEXFUSE_SERVE_")}
    return mine | {"LEXFUSE_SERVE_TIMEOUT_SECONDS": str(PATIENCE), "LEXFUSE_SERVE_SHUTDOWN_SECONDS": str(PATIENCE)}


@pytest.fixture
def running(tmp_path):
    """Starts `lexfuse serve` and gives the process, its address and its log, a file: a pipe that nobody reads would fill up."""
    log = tmp_path / "log.txt"

    @contextmanager
    def started(*arguments, command="serve"):
        with log.open("w") as errors:
            process = subprocess.Popen(
                [str(COMMAND), command, *map(str, arguments)],
                stdout=subprocess.PIPE, stderr=errors, text=True, env=environment() | {"COLUMNS": "160"},
            )  # fmt: skip
        try:
            line = next((line for line in process.stdout if " on http://" in line), "")
            assert line, log.read_text("utf-8")
            yield process, line.split(" on ")[1].split()[0], log
        finally:
            process.kill()
            process.communicate()

    return started


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "library.index"
    lexfuse("index", EXAMPLES / "articles.csv", folder)
    return folder


@pytest.fixture
def index(built, tmp_path):
    return shutil.copytree(built, tmp_path / "library.index")


def refuses(address):
    """Whether nobody listens there any more."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except OSError:
        return True
    return False


def long_question(address, characters):
    """The status of the answer to a question in an address that is longer than some clients send."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"))
    connection.request("GET", f"/v1/search?query={'%C3%A9' * characters}")
    status = connection.getresponse().status
    connection.close()
    return status


def test_it_answers_and_ends_in_order_with_the_running_request_answered(running, index):
    with running(index, "--port", "0") as (process, address, log):
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            assert client.get("/readyz").json() == {"status": "ready", "indexes": {"library": 1}, "stuck": 0}
            assert client.get("/v1/search", params={"query": "retard de prêt"}).json()["results"][0]["id"] == "lib-4"
            page = client.get("/", params={"q": "zanzibar"})
            assert page.headers["content-type"].startswith("text/html")
            assert "'none'" in page.headers["content-security-policy"]
            assert [long_question(address, size) for size in (20_000, 20_001)] == [200, 413]

        def body():
            """Half a question; the other half when the service has been told to end and takes nobody in any more."""
            yield b'{"query": "retard '
            assert httpx.get(f"{address}/readyz", timeout=PATIENCE).is_success  # it has read what came before
            process.send_signal(signal.SIGTERM)
            until = time.monotonic() + PATIENCE
            while not refuses(address):
                assert time.monotonic() < until
            yield 'de prêt"}'.encode()

        answer = httpx.post(
            f"{address}/v1/search", content=body(), headers={"content-type": "application/json"}, timeout=PATIENCE
        )
        assert answer.status_code == 200
        assert answer.json()["results"][0]["id"] == "lib-4"
        rest, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert rest == ""  # the address was the one line
        logged = log.read_text("utf-8").lower()
        lines = [json.loads(line) for line in logged.splitlines()]
        assert {line["route"] for line in lines} == {"/v1/search", "/"}
        for word in ("retard", "prêt", "pr\\u00eat", "%c3", "zanzibar"):
            assert word not in logged


def test_search_processes_answer_and_end_with_it(running, index):
    with running(index, "--port", "0", "--search-processes", "2") as (process, address, log):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 2
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            found = client.get("/v1/search", params={"query": "retard de prêt"})
            page = client.get("/", params={"q": "zanzibar"})
        assert found.json()["results"][0]["id"] == "lib-4"
        assert "zanzibar" in page.text
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert not any(Path("/proc", child).exists() for child in children)
        logged = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        assert [(line["route"], line["index"], line["results"]) for line in logged] == [
            ("/v1/search", "library", 2),
            ("/", "library", 0),
        ]


def test_ctrl_c_ends_it_too_and_who_never_finishes_does_not_hold_it_up(running, index):
    with running(index, "--port", "0", "--shutdown-seconds", "0.1") as (process, address, log):
        host, _, port = address.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port))) as slow:
            slow.sendall(
                b"POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\ncontent-type: application/json\r\n\r\n{"
            )
            assert httpx.get(f"{address}/readyz", timeout=PATIENCE).status_code == 200  # what came before it has been read
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert [line["status"] for line in map(json.loads, log.read_text("utf-8").splitlines()) if "status" in line] == [499]


def test_changes_by_another_process_are_taken_over_without_a_dropped_request(running, index, tmp_path):
    new = {"_id": "lib-9", "text": "Le bibliobus passe le mardi.", "metadata": {"language": "fr"}}
    (tmp_path / "new.jsonl").write_text(json.dumps(new) + "\n")
    settings = ["--port", "0", "--reload-seconds", "0.1", "--requests-per-minute", "0"]
    with running(index, *settings) as (_, address, _), httpx.Client(base_url=address, timeout=PATIENCE) as client:

        def until(change, wanted):
            """Ask without a pause while another process changes the index, until a page tells what is wanted."""
            with subprocess.Popen([str(COMMAND), *map(str, change)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as other:
                end = time.monotonic() + PATIENCE
                while True:
                    answer = client.get("/v1/search", params={"query": "bibliobus prêt mardi"})
                    assert answer.status_code == 200
                    page = answer.json()
                    if wanted(page):
                        break
                    assert time.monotonic() < end, other.stderr.read() if other.poll() is not None else "still at it"
                return page

        first = client.get("/v1/search", params={"query": "bibliobus prêt mardi", "k": 1}).json()
        page = until(["index", tmp_path / "new.jsonl", index, "--update"], lambda page: page["results"][0]["id"] == "lib-9")
        assert page["generation"] > first["generation"]
        # The next page of a ranking that was begun before comes from where it began.
        cursor = {"query": "bibliobus prêt mardi", "k": 1, "cursor": first["next_cursor"]}
        second = client.get("/v1/search", params=cursor).json()
        assert second["generation"] == first["generation"]
        # Vectors, once they are complete, are searched by without being asked for.
        lexfuse("train", "static", EXAMPLES / "articles.csv", tmp_path / "vectors", "--min-count", "1", "--dimension", "8")
        change = ["index", index, "--channels", "static", "--model", f"static={tmp_path / 'vectors'}"]
        assert until(change, lambda page: page["profile"] == "hybrid")["results"][0]["sources"].keys() == {
            "bm25",
            "static",
            "structure",
        }
        assert "lexfuse_index_reloads_total" in client.get("/metrics").text


def test_the_demonstration_is_served(running, tmp_path):
    texts = {
        "french-labour-law": ("L1237-19", "La rupture du contrat."),
        "human-rights-judgments": ("001-57587-en", "Corporal punishment is degrading."),
        "constitution-of-india": ("21", "No person shall be …"),
    }
    for name, (number, text) in texts.items():
        (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": number, "text": text, "metadata": {"number": number}}) + "\n")
        lexfuse("import", tmp_path / "corpus.jsonl", tmp_path / name)
    arguments = ["--folder", tmp_path, "--channels", "", "--port", "0"]
    with running(*arguments, command="demo") as (process, address, _):
        names = [one["name"] for one in httpx.get(f"{address}/v1/profiles", timeout=PATIENCE).json()["indexes"]]
        assert names == list(texts)
        assert httpx.get(address, timeout=PATIENCE).status_code == 200
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def refused(*arguments, **environment):
    done = CliRunner().invoke(app, ["serve", *map(str, arguments)], env=environment)
    assert done.exit_code == 1
    return done.exception


def test_bad_settings_are_told_before_anything_is_served(built, tmp_path):
    (tmp_path / "bad.toml").write_text("burts = 1\n")
    (tmp_path / "dense.toml").write_text('version = 1\nname = "meaning"\n[[channel]]\nname = "dense"\n')
    (tmp_path / "keys.toml").write_text("nothing of the kind")
    free = ["--port", "0"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        cases = [
            (refused(built, "--port", port), 2, f"port {port} of 127.0.0.1"),
            (refused(built, "--host", "nowhere.invalid", *free), 2, "nowhere.invalid"),
            (refused(*free), 2, "no index to serve"),
            (refused(tmp_path / "nothing.index", *free), 4, "nothing.index"),
            (refused(built, "--profile", tmp_path / "dense.toml", *free), 2, "'meaning' fits no index: index 'library'"),
            (refused(built, "--profile", tmp_path / "none.toml", *free), 4, "none.toml"),
            (refused(built, "--keys", tmp_path / "none.toml", *free), 4, "none.toml"),
            (refused(built, "--keys", tmp_path / "keys.toml", *free), 3, "not a file of keys"),
            (refused(built, "--config", tmp_path / "bad.toml", *free), 2, "no setting 'burts'"),
            (refused(built, *free, LEXFUSE_SERVE_BURTS="1"), 2, "LEXFUSE_SERVE_BURTS"),
            (refused(built, "--workers", "0", *free), 2, "workers"),
            (refused(built, "--search-processes", "-1", *free), 2, "search_processes"),
            (refused(built, built, *free), 2, "library"),
        ]
    for error, code, words in cases:
        assert (getattr(error, "exit_code", error), words in str(error)) == (code, True), str(error)


def test_a_cluster_has_no_search_processes(tmp_path):
    done = CliRunner().invoke(app, ["cluster", "serve", str(tmp_path)], env={"LEXFUSE_SERVE_SEARCH_PROCESSES": "2"})
    assert done.exit_code != 0
    assert "the shards of a cluster search; remove search_processes" in str(done.exception)


def test_the_command_ends_with_the_code_of_what_is_wrong(tmp_path):
    done = subprocess.run([str(COMMAND), "serve", tmp_path / "x", "--port", "0"], capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "Not found" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_are_shown_with_where_they_come_from(tmp_path):
    (tmp_path / "serve.toml").write_text('title = "Library law"\nport = 9000\n')
    arguments = ["serve", "law.index", "--config", str(tmp_path / "serve.toml"), "--show-settings", "--no-anonymous-read"]
    shown = CliRunner().invoke(app, arguments, env={"LEXFUSE_SERVE_BURST": "5"})
    assert shown.exit_code == 0, shown.output
    lines = {line.split(" = ")[0]: line for line in shown.stdout.splitlines()}
    assert lines["title"].endswith("# file")
    assert lines["burst"].split() == ["burst", "=", "5", "#", "environment"]
    assert lines["anonymous_read"].split() == ["anonymous_read", "=", "false", "#", "flag"]
    assert 'name = "law"' in lines["indexes"]
    assert lines["host"].endswith("# default")


def test_keys_are_added_listed_and_revoked(tmp_path):
    file = tmp_path / "keys.toml"

    def keys(*arguments):
        return CliRunner().invoke(app, ["keys", *arguments, "--file", str(file)], env={"COLUMNS": "160"})

    added = keys("add", "editors", "--scope", "write")
    token = added.stdout.strip()
    assert token.startswith("lf_")
    assert token not in file.read_text("utf-8")
    assert json.loads(keys("add", "readers", "--scope", "read", "--json").stdout)["scopes"] == ["read"]
    shown = keys("list")
    assert "editors" in shown.output
    assert token not in shown.output
    assert [key["name"] for key in json.loads(keys("list", "--json").stdout)] == ["editors", "readers"]
    assert keys("revoke", "editors").exit_code == 0
    assert [key["name"] for key in json.loads(keys("list", "--json").stdout)] == ["readers"]
    assert "no key 'editors'" in str(keys("revoke", "editors").exception)


def test_a_service_that_cannot_say_that_it_is_ready_ends(index):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(COMMAND), "serve", str(index), "--port", "0"],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), timeout=PATIENCE, check=False,
        )  # fmt: skip
    assert done.returncode == 5
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr
