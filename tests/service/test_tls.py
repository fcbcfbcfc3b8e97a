"""HTTPS: a real server with a self-made certificate over a socket, and files that cannot be used."""

import socket
import ssl
import threading
from contextlib import contextmanager

import httpx
import pytest
from certificate import self_made

from lexfuse.errors import ConfigError, DataError
from lexfuse.service import http_server
from lexfuse.service.http_server import listening, serve
from lexfuse.service.settings import ServiceSettings
from lexfuse.service.tls import tls_context

PATIENCE = 60.0  # seconds after which something will not happen any more


async def app(scope, receive, send):
    """Answers with the scheme that a request came by."""
    while scope["type"] == "lifespan":
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["scheme"].encode()})


@pytest.fixture
def files(tmp_path):
    return self_made(tmp_path)


@pytest.fixture
def served(files, monkeypatch):
    """Starts a server with the certificate, and gives its address."""
    servers = []

    class Server(http_server._Server):
        def __init__(self, *given):
            super().__init__(*given)
            servers.append(self)

    @contextmanager
    def started(**values):
        ready, urls = threading.Event(), []
        settings = ServiceSettings(port=0, tls_certificate=files[0], tls_key=files[1], **values)
        with listening(settings.host, settings.port) as bound:
            thread = threading.Thread(target=serve, args=(app, settings, bound, lambda url: (urls.append(url), ready.set())))
            thread.start()
            assert ready.wait(PATIENCE)
            yield urls[0]
            servers[0].should_exit = True
            thread.join(PATIENCE)

    monkeypatch.setattr(http_server, "_Server", Server)
    monkeypatch.setattr(http_server.signal, "signal", lambda *_: None)  # a thread has none
    return started


def test_the_service_speaks_https_alone(served, files):
    with served(header_seconds=PATIENCE) as address:
        assert address.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=files[0])
        assert httpx.get(address, verify=trusted, timeout=PATIENCE).text == "https"
        with pytest.raises(httpx.ConnectError, match=r"self.signed"):
            httpx.get(address, timeout=PATIENCE)
        with pytest.raises(httpx.TransportError):
            httpx.get(address.replace("https", "http"), timeout=PATIENCE)
    assert tls_context(*files).minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_client_that_does_not_shake_hands_is_cut(served):
    with served(header_seconds=0.1) as address:
        host, port = address.removeprefix("https://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as idle:
            assert idle.recv(1) == b""


def test_files_that_cannot_be_used_are_named(files, tmp_path):
    certificate, key = files
    with pytest.raises(ConfigError, match="tls_certificate is missing"):
        tls_context(None, key)
    with pytest.raises(DataError, match=r"nothing\.pem: cannot be read: No such file"):
        tls_context(tmp_path / "nothing.pem", key)
    with pytest.raises(DataError, match=r"certificate\.pem: not a certificate in PEM form with the private key"):
        tls_context(certificate, certificate)
    (tmp_path / "other").mkdir()
    _, other = self_made(tmp_path / "other")
    with pytest.raises(DataError, match="key values mismatch"):
        tls_context(certificate, other)
    (tmp_path / "locked").mkdir()
    with pytest.raises(DataError, match="the private key has a password"):
        tls_context(*self_made(tmp_path / "locked", b"secret"))
