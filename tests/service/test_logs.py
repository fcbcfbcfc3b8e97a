"""The log: one JSON line a request, and no word of the questions in any of them."""

import asyncio
import io
import json
import logging
import re

import httpx
import pytest
from fastapi.responses import StreamingResponse

from lexfuse.data.document import Document
from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.logs import LOGGER, configure_logs
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.web.routes import add_pages

WORDS = ("divorce", "zanzibar", "héritage")  # what must not be in the log
QUESTION = " ".join(WORDS)


@pytest.fixture
def stream():
    """What is logged, with logging as it was afterwards."""
    names = ("", LOGGER, "uvicorn.error", "uvicorn.access")
    loggers = [logging.getLogger(name) for name in names]
    before = [(one.handlers, one.level, one.propagate, one.disabled) for one in loggers]
    out = io.StringIO()
    configure_logs(out)
    yield out
    for one, (handlers, level, propagate, disabled) in zip(loggers, before, strict=True):
        one.handlers, one.level, one.propagate, one.disabled = handlers, level, propagate, disabled


@pytest.fixture
def library(tmp_path):
    documents = [Document(f"d{n}", text=f"Le divorce et la loi, article {n}.", language="fr") for n in range(3)]
    IndexFolder.create(tmp_path / "law.index", documents=documents).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "law.index")]) as opened:
        yield opened


def asked(app, *requests):
    """Answers to (method, path, parameters of httpx) one after the other."""

    async def session():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://law.example") as http:
            return [await http.request(method, path, **more) for method, path, more in requests]

    return asyncio.run(session())


def lines(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def broken(app, message):
    """Add a route that fails with the question in the error's message, and a cause that has it too."""

    @app.get("/broken")
    async def fails(q: str = "") -> None:
        question = q
        try:
            raise ValueError(f"cannot read {question}")
        except ValueError as error:
            raise KeyError(question, message) from error


def test_a_request_is_one_line_with_what_answered_it(library, stream, tmp_path):
    token = add_key(tmp_path / "keys.toml", "editors", KeyScope.WRITE)
    app = create_app(ServiceContext(library, ServiceSettings(keys=tmp_path / "keys.toml")))
    headers = {"x-api-key": token, "x-request-id": "abc-123"}
    (answer,) = asked(app, ("GET", "/v1/search", {"params": {"query": QUESTION, "k": 2}, "headers": headers}))
    assert answer.status_code == 200
    assert answer.headers["x-request-id"] == "abc-123"
    (line,) = lines(stream)
    assert line.pop("ms") > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line.pop("time"))
    assert line == {
        "level": "info", "event": "request", "request_id": "abc-123", "method": "GET", "route": "/v1/search", "status": 200,
        "index": "law", "profile": "bm25", "generation": library.index().generation, "results": 2, "key": "editors",
    }  # fmt: skip


def busy(app):
    """Requests of every kind with the question in every place."""
    return asked(
        app,
        ("GET", "/v1/search", {"params": {"query": QUESTION}}),
        ("GET", "/v1/search", {"params": {"query": QUESTION, "cursor": QUESTION}}),
        ("GET", "/v1/search", {"params": {"query": QUESTION, "index": QUESTION, "profile": QUESTION}}),
        ("GET", "/v1/search", {"params": {"query": QUESTION, "k": QUESTION}}),
        ("GET", "/v1/search", {"params": {"query": QUESTION, "filters": QUESTION, "as_of": QUESTION}}),
        ("GET", f"/{QUESTION}", {"params": {"q": QUESTION}}),
        ("GET", f"/v1/documents/{QUESTION}", {}),
        ("GET", f"/static/{QUESTION}", {}),
        ("POST", "/v1/search", {"json": {"q": QUESTION}}),
        ("POST", "/v1/similar", {"json": {"text": QUESTION}}),
        ("GET", "/broken", {"params": {"q": QUESTION}}),
        ("DIVORCE", "/v1/search", {}),
        ("GET", "/", {"headers": {"x-request-id": "divorce zanzibar", "referer": f"http://x/?q={WORDS[0]}"}}),
        ("GET", "/", {"headers": {"user-agent": WORDS[0], "x-api-key": WORDS[1]}}),
    )


def test_no_word_of_a_question_is_in_the_log_of_a_busy_session(library, stream):
    app = create_app(ServiceContext(library, ServiceSettings()))
    broken(app, QUESTION)
    answers = busy(app)
    assert {answer.status_code for answer in answers} >= {200, 400, 404, 405, 422, 500}
    logged = stream.getvalue().lower()
    assert len([line for line in lines(stream) if line["event"] == "request"]) == len(answers)
    for word in (*WORDS, "h%c3%a9ritage", "h\\u00e9ritage"):
        assert word not in logged


def test_questions_are_logged_where_that_is_switched_on(library, stream):
    app = create_app(ServiceContext(library, ServiceSettings(log_queries=True)))
    asked(app, ("GET", "/v1/search", {"params": {"query": QUESTION}}))
    assert lines(stream)[0]["query"] == QUESTION


def test_an_unexpected_error_is_logged_with_type_and_place_and_answered_without(library, stream):
    app = create_app(ServiceContext(library, ServiceSettings()))
    broken(app, "inner secret")
    (answer,) = asked(app, ("GET", "/broken", {"params": {"q": QUESTION}}))
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    error, request = lines(stream)
    assert error["error"] == "KeyError"
    assert [step for step in error["trace"] if ":" not in step] == ["KeyError", "ValueError"]
    assert any(step.endswith(" fails") and "test_logs.py" in step for step in error["trace"])
    assert error["request_id"] == request["request_id"] == answer.json()["request_id"] == answer.headers["x-request-id"]
    assert (request["route"], request["status"]) == ("/broken", 500)


def test_an_error_in_the_middle_of_an_answer_cuts_it_and_is_logged_without_the_question(library, stream):
    app = create_app(ServiceContext(library, ServiceSettings()))

    @app.get("/stream")
    async def halves() -> StreamingResponse:
        async def parts():
            yield "half"
            raise ValueError(QUESTION)

        return StreamingResponse(parts())

    with pytest.raises(ValueError, match="divorce"):  # the server behind it cuts the connection
        asked(app, ("GET", "/stream", {}))
    error, request = lines(stream)
    assert (error["error"], request["status"]) == ("ValueError", 200)
    assert not any(word in stream.getvalue() for word in WORDS)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v1/similar", b"application/json"), ("/v1/similar", b"multipart/form-data; boundary=b"),
        ("/v1/search", b"application/json"), ("/similar", b"multipart/form-data; boundary=b"),
        ("/judge", b"application/x-www-form-urlencoded"),
    ],
)  # fmt: skip
def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_error(library, stream, path, kind):
    app = create_app(ServiceContext(library, ServiceSettings(anonymous_judging=True)))
    add_pages(app)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http", "path": path,
        "raw_path": path.encode(), "root_path": "", "query_string": b"", "client": ("192.0.2.1", 1),
        "server": ("law.example", 80),
        "headers": [(b"host", b"law.example"), (b"content-type", kind), (b"content-length", b"100")],
    }  # fmt: skip
    given = iter([{"type": "http.request", "body": b"--b", "more_body": True}])

    async def receive():
        return next(given, {"type": "http.disconnect"})

    async def send(message):
        pass

    asyncio.run(app(scope, receive, send))
    [line] = lines(stream)
    assert line["level"] == "info"
    assert line["status"] < 500


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, 'a"b', "é", "a\tb"])
def test_request_ids_that_are_not_sane_are_replaced(library, stream, given):
    app = create_app(ServiceContext(library, ServiceSettings()))
    (answer,) = asked(app, ("GET", "/v1/search", {"params": {"query": "loi"}, "headers": {"x-request-id": given.encode()}}))
    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-request-id"])
    assert lines(stream)[0]["request_id"] == answer.headers["x-request-id"]


def test_other_libraries_have_one_line_and_no_message_of_their_errors(stream):
    try:
        raise ValueError(QUESTION)
    except ValueError as error:
        logging.getLogger("asyncio").error("Task exception was never retrieved\nfuture: %r", error, exc_info=error)
    logging.getLogger("uvicorn.access").info("GET /?q=%s", QUESTION)
    logging.getLogger("uvicorn.access").error("GET /?q=%s", QUESTION)
    (line,) = lines(stream)
    assert (line["from"], line["error"], line["event"]) == ("asyncio", "ValueError", "Task exception was never retrieved")
    assert not any(word in stream.getvalue() for word in WORDS)


def test_health_that_is_well_is_not_logged(library, stream):
    app = create_app(ServiceContext(library, ServiceSettings()))
    asked(app, ("GET", "/healthz", {}), ("GET", "/readyz", {}))
    assert [(line["route"], line["status"]) for line in lines(stream)] == [("/readyz", 503)]


def test_one_request_does_not_tell_of_another(library, stream):
    app = create_app(ServiceContext(library, ServiceSettings()))
    asked(app, ("GET", "/v1/search", {"params": {"query": "loi"}}), ("GET", "/nowhere", {}))
    assert "index" in lines(stream)[0]
    assert "index" not in lines(stream)[1]


def test_the_methods_of_a_tuple_are_no_notes(library, stream):
    app = create_app(ServiceContext(library, ServiceSettings()))
    add_pages(app)
    (answer,) = asked(app, ("GET", "/similar", {}))
    assert answer.status_code == 200
    assert "index" not in lines(stream)[0]
