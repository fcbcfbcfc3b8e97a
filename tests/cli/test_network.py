"""Nothing but its own sockets: no command and no request of the service looks up a host or connects to one."""

import json
import os
import sys
from pathlib import Path

import pytest

from lexfuse.data.document import Document
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings

SESSION = Path(__file__).parent / "session.py"
HOSTILE = "evil-org/evil-model"


@pytest.fixture(scope="module")
def recorded(module_at):
    """Runs a command and records what it sends: tests/cli/recorder.py."""
    return module_at(Path(__file__).parent / "recorder.py").recorded


@pytest.fixture(scope="module")
def hostile(library):
    """An index of someone else, whose catalog names a model of the hub for every kind of channel, and such a profile."""
    folder = library / "hostile.index"
    with IndexFolder.create(folder, documents=[Document("a", text="Le prêt dure trois semaines.", language="fr")]) as index:
        options = {"int8": False, "headings": True}
        dense = {"storage": "fp16", "approximate": False, "scheme": "whole", "size": 200, "overlap": 20}
        index.channels.make("dense", ChannelSettings("dense", HOSTILE, "0" * 32, "", "", options | dense))
        index.channels.make("splade", ChannelSettings("sparse", HOSTILE, "0" * 32, "", "", options | {"terms": 0}))
        index.channels.make("colbert", ChannelSettings("late", HOSTILE, "0" * 32, "", "", options | {"bits": 3}))
    profile = 'version = 1\n[[channel]]\nname = "bm25"\n[[rerank]]\nmethod = "cross-encoder"\nmodel = "evil-org/evil-reranker"\n'
    (library / "hostile.toml").write_text(profile, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def session(recorded, library, hostile, tiny, tmp_path_factory):
    """A whole session with vectors: what its commands printed, what they sent, and the home folder they had."""
    tiny.folder(library / "model", normalise=True)
    home = tmp_path_factory.mktemp("home")
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("LEXFUSE_", "HF_", "XDG_"))}
    surroundings |= {"HOME": str(home), "LEXFUSE_CACHE": str(library / "cache"), "HF_HOME": str(library / "hub")}
    done, sent = recorded([sys.executable, SESSION, library], env=surroundings)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout), sent, home


def test_the_recorder_sees_look_ups_and_connections(recorded):
    program = """
import socket
try: socket.getaddrinfo("example.org", 443)
except OSError: pass
with socket.socket() as one:
    one.setblocking(False)
    one.connect_ex(("192.0.2.1", 443))
"""
    _, sent = recorded([sys.executable, "-c", program])
    assert sent == [["udp", "127.0.0.1", 53], ["tcp", "192.0.2.1", 443]]


def test_commands_and_requests_do_their_work(session):
    told, _, _ = session
    assert {name: code for name, code in told["codes"].items() if code} == {}
    assert told["statuses"] == [200] * len(told["statuses"])
    assert "lib-" in told["assistant"]


def test_nothing_is_sent_but_to_the_service(session):
    told, sent, _ = session
    assert sent == [["tcp", "127.0.0.1", told["port"]]]


def test_nothing_is_left_in_the_home_folder(session):
    """ONNX Runtime's telemetry begins with a device id and a data base there, long before it looks up a host."""
    _, _, home = session
    assert list(home.rglob("*")) == []


def test_an_index_of_someone_else_cannot_fetch_models(session):
    told, _, _ = session
    for name, (code, stderr) in told["hostile"].items():
        assert code == (2 if name in ("serve", "mcp") else 4), (name, stderr)  # of these two, a profile that fits no index
        assert "is not on this machine" in stderr, name
        assert "`lexfuse fetch evil-org/evil-" in " ".join(stderr.split()), (name, stderr)
