"""A whole machine that can only be read: the service starts and answers, by words, vectors and token vectors."""

import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

ROOT = ["--map-root-user"] if os.geteuid() else []
READ_ONLY = ["unshare", "--mount", *ROOT, "sh", str(Path(__file__).parent / "readonly.sh")]
LOOPS, GRAPHS = "compiled loops cannot be cached", "so every process builds the graph of a model again"


@pytest.fixture(scope="module")
def read_only():
    """What stands before a command that runs where nothing can be written, and its environment."""
    if subprocess.run([*READ_ONLY, "true"], capture_output=True, check=False).returncode:
        if os.environ.get("LEXFUSE_ALL_TESTS"):
            pytest.fail("no mount namespaces on this machine, and all tests must run")
        pytest.skip("no mount namespaces on this machine: unshare is missing, or not permitted")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LEXFUSE_", "NUMBA_", "XDG_"))}
    return READ_ONLY, environment | {"HOME": "/nowhere"}


@pytest.fixture(scope="module")
def vectors(run_jobs, library, tiny):
    """The library with vectors and token vectors, by a model whose graph is in no cache that the service sees."""
    model, index = tiny.folder(library / "small", normalise=True), library / "vectors.index"
    arguments = ["index", str(library / "articles.csv"), str(index), "--channels", "dense,colbert"]
    models = ["--model", f"dense={model}", "--model", f"colbert={model}"]
    [built] = run_jobs([{"arguments": [*arguments, *models], "environment": {"LEXFUSE_CACHE": str(library / "graphs")}}])
    assert built["code"] == 0, built
    return index


def test_the_service_answers(read_only, commands, vectors, tmp_path):
    before, environment = read_only
    command = [*before, str(commands.COMMAND), "serve", str(vectors), "--port", "0", "--requests-per-minute", "0"]
    log = tmp_path / "log.txt"
    streams = {"stdout": subprocess.PIPE, "stderr": log.open("w")}
    with streams["stderr"], subprocess.Popen(command, **streams, text=True, env=environment) as run:
        try:
            told = run.stdout.readline()
            assert " on http://" in told, log.read_text("utf-8")
            with httpx.Client(base_url=told.split(" on ")[1].split()[0], timeout=None) as client:  # noqa: S113
                for profile in ("bm25", "dense", "colbert", "hybrid"):
                    answer = client.get("/v1/search", params={"query": "rendre les livres prêtés", "profile": profile})
                    assert answer.status_code == 200, answer.text
                    assert answer.json()["results"], profile
                large = "Le lecteur rend les livres prêtés. ".encode() * 40_000  # above what is kept in memory usually
                answer = client.post("/v1/similar", files={"file": ("judgment.txt", large, "text/plain")})
                assert answer.status_code == 200, answer.text
                assert client.get("/").status_code == 200
        finally:
            run.send_signal(signal.SIGTERM)
    assert run.returncode == 0
    assert log.read_text("utf-8").count(GRAPHS) == 1


def test_compiled_loops_work_in_memory(read_only, commands, vectors):
    before, environment = read_only
    command = [
        *before,
        str(commands.COMMAND),
        "search",
        str(vectors),
        "rendre les livres prêtés",
        "-c",
        "bm25,tfidf",
        "--fusion",
        "srrf",
    ]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert found.returncode == 0, found.stderr
    assert "[lib-" in found.stdout
    assert found.stderr.count(LOOPS) == 1  # smooth ranks are always computed by compiled loops


@pytest.mark.parametrize("channel", ["colbert", "dense"])
def test_a_search_by_vectors(read_only, commands, vectors, channel):
    before, environment = read_only
    command = [*before, str(commands.COMMAND), "search", str(vectors), "rendre les livres prêtés", "-c", channel]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert found.returncode == 0, found.stderr
    assert "[lib-" in found.stdout
    assert found.stderr.count(GRAPHS) == 1


def test_what_must_be_written_is_told(read_only, commands, library):
    before, environment = read_only
    command = [*before, str(commands.COMMAND), "index", str(library / "articles.csv"), str(library / "library.index"), "--update"]
    failed = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert failed.returncode == 5, failed.stderr
    assert "Traceback" not in failed.stderr
