"""What takes too long stops, a change that was answered 503 is never made, and writers hold no thread that searches."""

import asyncio
import threading
import time
from contextlib import suppress

import httpx
import pytest

from lexfuse.deadline import check, claim
from lexfuse.errors import NotFoundError, OverloadError
from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.app import create_app
from lexfuse.service.change_outcomes import ChangeOutcome
from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.document_writes import DocumentBody, put_document
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.index_folder import IndexFolder

PATIENCE = 600.0
SHORT = 0.05  # seconds: what a call has that must be stopped; the call waits until it was, so it may be any number


def service_of(library, **settings):
    return ServiceContext(
        library, ServiceSettings(**{"workers": 2, "timeout_seconds": SHORT, "requests_per_minute": 0, **settings})
    )


class Endless:
    """Work that never ends by itself; it says when it has begun, and when it was stopped."""

    def __init__(self):
        self.begun, self.stopped = threading.Event(), threading.Event()

    def __call__(self):
        self.begun.set()
        try:
            while True:
                check()
                time.sleep(0)
        except OverloadError:
            self.stopped.set()
            raise

    async def given_up_by(self, ask):
        """Ask until it has begun: on a busy machine its time may pass before a thread is free for it."""
        while not self.begun.is_set():
            with pytest.raises(OverloadError, match="not done within"):
                await ask(self)


def test_a_call_that_takes_too_long_stops(small):
    service, endless = service_of(small), Endless()
    asyncio.run(endless.given_up_by(service.run))
    assert endless.stopped.wait(PATIENCE)


def test_searching_goes_on_after_calls_that_took_too_long(small):
    service = service_of(small)

    async def asked():
        await asyncio.gather(*(Endless().given_up_by(service.run) for _ in range(4)))
        while service.stuck:
            await asyncio.sleep(0)
        service.settings = ServiceSettings(workers=2, timeout_seconds=PATIENCE)
        return await service.run(search, small, SearchQuery(query="préavis", language="fr"))

    assert asyncio.run(asked()).results


def test_stuck_threads_are_noticed(small):
    service, go_on = service_of(small), threading.Event()
    app = create_app(service)
    app.state.ready = True

    async def asked():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
            assert (await http.get("/readyz")).json()["stuck"] == 0
            for stuck in (1, 2):
                while service.stuck < stuck:
                    with pytest.raises(OverloadError):
                        await service.run(go_on.wait, PATIENCE)  # a call that does not ask for its deadline
                answer = await http.get("/readyz")
                assert answer.status_code == (200 if stuck < 2 else 503)
                assert f"lexfuse_stuck_workers {stuck}.0" in (await http.get("/metrics")).text
            go_on.set()
            while service.stuck:
                await asyncio.sleep(0)
            assert (await http.get("/readyz")).json()["stuck"] == 0

    asyncio.run(asked())


def test_a_change_that_is_given_up_is_never_made(small, shelf_folder, monkeypatch):
    """The timeout passes while the change is prepared: 503, and the document is not there, now or later."""
    service, endless = service_of(small), Endless()
    real = IndexFolder._add

    def waits(self, *args):
        changes = real(self, *args)
        with suppress(OverloadError):
            endless()
        return changes  # and goes on to the commit, as if nothing had happened

    monkeypatch.setattr(IndexFolder, "_add", waits)

    async def asked(_):
        await service.write("", put_document, small, "new", DocumentBody(text="la loi"))

    asyncio.run(endless.given_up_by(asked))
    service.close()  # waits for the thread
    with IndexFolder(shelf_folder) as index, index.snapshot() as snapshot, pytest.raises(NotFoundError):
        snapshot.document("new")
    with IndexFolder(shelf_folder) as index:
        assert index.verify() == []


def test_a_change_that_waits_for_its_turn_and_is_given_up_is_never_begun(small):
    service, go_on, begun = service_of(small), threading.Event(), []

    async def asked():
        first = asyncio.create_task(service.write("", go_on.wait, PATIENCE))
        await asyncio.sleep(0)  # it is handed to the thread that writes
        with pytest.raises(OverloadError, match="nothing was changed"):
            await service.write("", begun.append, 1)
        go_on.set()
        with pytest.raises(OverloadError):
            await first

    asyncio.run(asked())
    service.close()
    assert begun == []


def test_a_change_that_is_being_committed_has_an_outcome(small, shelf_folder, tmp_path, monkeypatch):
    """The timeout passes after the change has claimed its deadline: 202, and the outcome can be asked for."""
    key = add_key(tmp_path / "keys.toml", "writer", KeyScope.WRITE)
    service = service_of(small, keys=tmp_path / "keys.toml", timeout_seconds=1.0)
    committing, go_on, before_commit = threading.Event(), threading.Event(), {}

    def claimed():
        claim()
        if not before_commit:
            before_commit["reached"] = True
            committing.set()
            assert go_on.wait(PATIENCE)

    monkeypatch.setattr("lexfuse.storage.catalog_file.claim", claimed)
    app = create_app(service)

    async def asked():
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost", headers=headers) as http:
            while True:  # a busy machine may give up before the commit is reached, and then nothing was changed
                answer = await http.put("/v1/documents/new", json={"text": "la loi"})
                if answer.status_code != 503:
                    break
            assert answer.status_code == 202
            assert answer.json()["state"] == "pending"
            assert "retry-after" in answer.headers
            place = answer.headers["location"]
            go_on.set()
            while (outcome := await http.get(place)).json()["state"] == "pending":
                await asyncio.sleep(0)
            assert outcome.json()["state"] == "done"
            assert outcome.json()["result"]["change"] == "created"
            assert (await http.get("/v1/changes/unknown")).status_code == 404
            assert (await http.get(place, headers={"Authorization": ""})).status_code == 401

    asyncio.run(asked())
    with IndexFolder(shelf_folder) as index, index.snapshot() as snapshot:
        assert snapshot.document("new").text == "la loi"


def test_writers_hold_no_thread_that_searches(small):
    service = service_of(small, timeout_seconds=PATIENCE)
    go_on = threading.Event()

    async def asked():
        writes = [asyncio.create_task(service.write("", go_on.wait, PATIENCE)) for _ in range(8)]
        await asyncio.sleep(0)
        page = await service.run(search, small, SearchQuery(query="préavis", language="fr"))  # done while all of them wait
        go_on.set()
        await asyncio.gather(*writes)
        return page

    assert asyncio.run(asked()).results


def test_an_outcome_knows_its_state():
    from concurrent.futures import Future

    future: Future[int] = Future()
    outcome = ChangeOutcome("a", future)
    assert outcome.state.value == "pending"
    future.set_exception(OverloadError("late"))
    assert outcome.state.value == "failed"
