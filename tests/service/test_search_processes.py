"""Search processes answer what the service would answer, follow its versions, and are replaced when they end."""

import asyncio
import os
import signal
from contextlib import suppress

import httpx
import pytest

from lexfuse.deadline import Deadline
from lexfuse.errors import ConfigError, OverloadError, UnknownProfileError
from lexfuse.service import search_processes
from lexfuse.service.app import create_app
from lexfuse.service.child_process import ChildProcess
from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.contents import ContentsParameters, contents
from lexfuse.service.operations.document_writes import DocumentBody, put_document
from lexfuse.service.operations.explain import ExplainParameters, explain
from lexfuse.service.operations.lasting_search import lasting_search
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.operations.similar import SimilarParameters, similar
from lexfuse.service.operations.suggest import SuggestQuery, suggest
from lexfuse.service.search_processes import OperationCall, SearchProcesses, WrittenCall
from lexfuse.service.settings import ServiceSettings

PATIENCE = 600.0
OPERATIONS = {
    "search": OperationCall(search, SearchQuery(query="préavis de démission", facets=True)),
    "no result": OperationCall(search, SearchQuery(query="zanzibar")),
    "page": OperationCall(lasting_search, SearchQuery(query="préavis", profile="former")),
    "contents": OperationCall(contents, ContentsParameters(path=["Code du travail"])),
    "explain": OperationCall(explain, ExplainParameters(query="préavis", document="travail-L1")),
    "suggest": OperationCall(suggest, SuggestQuery(query="préa")),
    "similar": OperationCall(similar, SimilarParameters(text="Le salarié qui démissionne respecte un préavis.")),
}


def settings_of(folder, **values):
    return ServiceSettings(indexes=[str(folder)], **{"search_processes": 1, "timeout_seconds": PATIENCE, **values})


@pytest.fixture
def processes(small, shelf_folder):
    """One process on the index of `small`."""
    made = SearchProcesses(settings_of(shelf_folder))
    yield made
    made.close()


def child_of(processes):
    [one] = processes._all
    return one._child.process


def untimed(answer):
    """An answer as data, without the time that it took."""
    return without_timing(getattr(answer, "page", answer).model_dump(mode="json"))


def without_timing(value):
    if isinstance(value, list):
        return [without_timing(one) for one in value]
    return {name: without_timing(one) for name, one in value.items() if name != "timing"} if isinstance(value, dict) else value


@pytest.mark.parametrize("call", OPERATIONS.values(), ids=OPERATIONS)
def test_a_process_answers_as_the_service_does(processes, small, call, monkeypatch):
    monkeypatch.setattr(search_processes, "FAILED", object())  # the service would answer itself
    assert untimed(processes.answer(call, small, Deadline(PATIENCE))) == untimed(call(small))


def test_an_answer_is_written_where_it_is_made(processes, small):
    written = processes.answer(WrittenCall(search, SearchQuery(query="préavis")), small, Deadline(PATIENCE))
    assert written.text.startswith('{"index":"small"')
    assert written.facts.values == {"index": "small", "generation": 1, "profile": "bm25", "query": "préavis", "results": 2}
    assert "search" in written.facts.stages


def test_what_is_wrong_is_raised_as_ever(processes, small):
    with pytest.raises(UnknownProfileError, match="there is no profile 'nope'"):
        processes.answer(OperationCall(search, SearchQuery(query="prêt", profile="nope")), small, Deadline(PATIENCE))


def test_a_search_sees_what_was_written_before_it(processes, small):
    asked = OperationCall(search, SearchQuery(query="zanzibar"))
    assert processes.answer(asked, small, Deadline(PATIENCE)).results == []
    put_document(small, "island", DocumentBody(text="Le droit de Zanzibar.", language="fr"))
    found = processes.answer(asked, small, Deadline(PATIENCE))
    assert ([result.id for result in found.results], found.generation) == (["island"], small.index().generation)


def test_a_further_page_is_of_the_version_of_the_first_also_where_a_process_never_opened_it(processes, small):
    first = search(small, SearchQuery(query="préavis", k=1))
    put_document(small, "new", DocumentBody(text="Le préavis, le préavis, le préavis.", language="fr"))
    child_of(processes).kill()
    child_of(processes).wait()
    further = OperationCall(search, SearchQuery(query="préavis", k=1, cursor=first.next_cursor))
    page = processes.answer(further, small, Deadline(PATIENCE))  # of a process that opened the newest version alone
    assert (page.generation, [result.id for result in page.results]) == (first.generation, ["travail-L2"])


def test_a_process_that_is_killed_is_replaced(processes, small):
    asked, first = OperationCall(search, SearchQuery(query="préavis")), child_of(processes)
    first.kill()
    first.wait()
    assert processes.answer(asked, small, Deadline(PATIENCE)).results
    assert child_of(processes).pid != first.pid


def test_a_request_whose_process_is_killed_may_be_tried_again(processes, small, monkeypatch):
    asked, ask = OperationCall(search, SearchQuery(query="préavis")), ChildProcess.ask

    def killed(child, *frames, seconds):
        monkeypatch.undo()
        child.process.kill()
        return ask(child, *frames, seconds=seconds)

    monkeypatch.setattr(ChildProcess, "ask", killed)
    with pytest.raises(OverloadError, match="the process that searched has ended; another one is started; try again"):
        processes.answer(asked, small, Deadline(PATIENCE))
    assert processes.answer(asked, small, Deadline(PATIENCE)).results


def test_a_process_that_does_not_answer_is_killed_at_the_deadline(processes, small, monkeypatch):
    monkeypatch.setattr(search_processes, "GRACE", 0.0)
    asked, first = OperationCall(search, SearchQuery(query="préavis")), child_of(processes)
    os.kill(first.pid, signal.SIGSTOP)
    with pytest.raises(OverloadError, match="not done within"):
        processes.answer(asked, small, Deadline(0.05))
    assert first.wait(PATIENCE) == -signal.SIGKILL
    assert processes.answer(asked, small, Deadline(PATIENCE)).results


def test_a_process_that_starts_longer_than_a_request_lasts_answers_the_next_one(processes, small):
    asked, first = OperationCall(search, SearchQuery(query="préavis")), child_of(processes)
    first.kill()
    first.wait()
    with suppress(OverloadError):  # by then its client has an error
        processes.answer(asked, small, Deadline(0.01))
    started = child_of(processes)
    assert processes.answer(asked, small, Deadline(PATIENCE)).results
    assert child_of(processes).pid == started.pid


def test_a_call_that_finds_no_free_process_in_its_time_is_not_done(processes, small):
    taken = processes._free.get()
    with pytest.raises(OverloadError, match="not done within"):
        processes.answer(OperationCall(search, SearchQuery(query="préavis")), small, Deadline(0.01))
    processes._free.put(taken)
    assert processes.answer(OperationCall(search, SearchQuery(query="préavis")), small, Deadline(PATIENCE)).results


def test_processes_end_with_the_service(processes):
    child = child_of(processes)
    child.send_signal(signal.SIGTERM)  # as a service manager sends to all
    child.stdin.close()
    assert child.wait(PATIENCE) == 0


def test_processes_that_cannot_open_the_indexes_are_no_service(tmp_path, capfd):
    with pytest.raises(ConfigError, match="a search process did not start; its error is above"):
        SearchProcesses(settings_of(tmp_path / "nowhere.index"))
    assert "nowhere.index" in capfd.readouterr().err


def test_requests_are_answered_and_logged_as_without_processes(small, shelf_folder, caplog):
    settings = settings_of(shelf_folder)
    service = ServiceContext(small, settings, SearchProcesses(settings))
    app = create_app(service)

    async def asked():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            found = await client.get("/v1/search", params={"query": "préavis", "k": 1})
            form = await client.post("/v1/similar", files={"file": ("a.txt", "Le préavis du salarié.")}, data={"k": "1"})
            wrong = await client.get("/v1/search", params={"query": "préavis", "profile": "nope"})
            return found, form, wrong

    with caplog.at_level("INFO", "lexfuse.service"):
        found, form, wrong = asyncio.run(asked())
    assert [one["id"] for one in found.json()["results"]] == ["travail-L1"]
    assert len(form.json()["results"]) == 1
    assert (wrong.status_code, wrong.json()["code"]) == (404, "unknown-profile")
    line = next(record.fields for record in caplog.records if record.msg == "request")
    assert (line["index"], line["profile"], line["results"]) == ("small", "bm25", 1)
    service.close()
