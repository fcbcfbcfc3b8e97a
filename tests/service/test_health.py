"""Alive at once; ready when every index was tried."""

import asyncio

import httpx
import pytest

from lexfuse.data.document import Document
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.http_server import warm_up
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.index_folder import IndexFolder


@pytest.fixture
def library(tmp_path):
    for name in ("law", "cases"):
        IndexFolder.create(tmp_path / f"{name}.index", documents=[Document("a", text="la loi", language="fr")]).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / f"{name}.index") for name in ("law", "cases")]) as opened:
        yield opened


def asked(app, path):
    async def one():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://law.example") as http:
            return await http.get(path)

    return asyncio.run(one())


def test_alive_is_not_ready(library):
    app = create_app(ServiceContext(library, ServiceSettings()))
    assert asked(app, "/healthz").json()["status"] == "alive"
    waiting = asked(app, "/readyz")
    assert waiting.status_code == 503
    assert waiting.headers["retry-after"] == "1"
    app.state.ready = True
    ready = asked(app, "/readyz").json()
    assert ready["status"] == "ready"
    assert ready["indexes"] == {name: library.index(name).generation for name in ("law", "cases")}


def test_warming_up_tries_every_index(library, monkeypatch):
    tried = []
    monkeypatch.setattr("lexfuse.service.http_server.search", lambda _, ask: tried.append(ask.index))
    warm_up(library)
    assert tried == ["law", "cases"]


def test_an_index_that_fails_does_not_keep_the_others_from_being_tried(library, monkeypatch, caplog):
    from lexfuse.errors import DataError

    tried = []

    def fails(_, ask):
        tried.append(ask.index)
        raise DataError("damaged")

    monkeypatch.setattr("lexfuse.service.http_server.search", fails)
    warm_up(library)
    assert tried == ["law", "cases"]
    assert len(caplog.records) == 2
