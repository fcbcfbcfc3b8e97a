"""The id, the log line and the metrics of a request, and the handling of unexpected errors."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from lexfuse.service.logs import log
from lexfuse.service.metrics import METHODS, OTHER
from lexfuse.service.middleware.http_middleware import STATIC, HttpMiddleware, header, is_exempt
from lexfuse.service.problems import send_problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from lexfuse.service.metrics import ServiceMetrics

REQUEST_ID = "x-request-id"
GONE = 499  # the client disconnected before the response
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(slots=True)
class RequestNotes:
    """Facts about a request, for the log and the metrics."""

    id: str = ""
    key: str = ""
    index: str = ""
    profile: str = ""
    generation: int | None = None
    results: int | None = None
    query: str = ""
    stages: dict[str, float] = field(default_factory=dict)

    def fields(self, *, with_query: bool) -> dict[str, Any]:
        """The fields of the log line; the question only if `log_queries` is on.

        >>> RequestNotes(index="labour", query="divorce").fields(with_query=False)
        {'index': 'labour'}
        """
        names = ("index", "profile", "generation", "results", "key", *(("query",) if with_query else ()))
        return {name: value for name in names if (value := getattr(self, name)) not in ("", None)}


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """What the log and the metrics say about an answer: its index, version, profile, number of results and stage times.

    >>> from types import SimpleNamespace
    >>> AnswerFacts.of(SimpleNamespace(index="law", results=["a", "b"], count=len)).values
    {'index': 'law', 'results': 2}
    """

    values: dict[str, str | int]  # fields of `RequestNotes`
    stages: dict[str, float]

    @classmethod
    def of(cls, answer: object) -> AnswerFacts:
        """Those of an answer, of any type."""
        values: dict[str, str | int] = {}
        for name in ("index", "profile", "generation", "query"):
            if isinstance(value := getattr(answer, name, None), str | int):  # a tuple has a method of that name
                values[name] = value
        if isinstance(results := getattr(answer, "results", None), list):
            values["results"] = len(results)
        stages = getattr(getattr(answer, "timing", None), "stages", None)
        return cls(values, dict(stages) if isinstance(stages, Mapping) else {})


_notes: ContextVar[RequestNotes] = ContextVar("notes")


def current_notes() -> RequestNotes:
    """The notes of the current request; new ones outside of a request."""
    return _notes.get(None) or RequestNotes()


def note_answer(answer: object) -> None:
    """Note the facts of an answer."""
    note_facts(AnswerFacts.of(answer))


def note_facts(facts: AnswerFacts) -> None:
    """Note facts of an answer; what it does not say stays as it was noted before."""
    notes = current_notes()
    for name, value in facts.values.items():
        setattr(notes, name, value)
    notes.stages.update(facts.stages)


class RequestLogMiddleware(HttpMiddleware):
    """Logs and measures every request."""

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics, *, log_queries: bool = False) -> None:
        """Wrap an application; unexpected errors in it become problem responses."""
        super().__init__(app, metrics)
        self.log_queries = log_queries

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, also after an unexpected error."""
        given = header(scope, REQUEST_ID)
        notes = RequestNotes(given if _SANE.fullmatch(given) else uuid.uuid4().hex)
        scope.setdefault("state", {})["request_id"] = notes.id
        status = GONE

        async def with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (REQUEST_ID.encode(), notes.id.encode())]}
            await send(message)

        token = _notes.set(notes)
        started = time.perf_counter()
        self.metrics.running.inc()
        try:
            await self.app(scope, receive, with_id)
        except ClientDisconnect:
            pass  # the client is gone; nothing is wrong
        except Exception as error:
            log.error("unexpected error", exc_info=error, extra={"fields": {"request_id": notes.id, "route": route_of(scope)}})
            if status == GONE:
                await send_problem(error, scope, receive, with_id)
            else:
                raise  # part of the response is sent: the server must cut the connection, so that it is not taken as complete
        finally:
            self.metrics.running.dec()
            _notes.reset(token)
            self._record(scope, notes, status, time.perf_counter() - started)

    def _record(self, scope: Scope, notes: RequestNotes, status: int, seconds: float) -> None:
        route = route_of(scope)
        method = scope["method"] if scope["method"] in METHODS else OTHER
        self.metrics.answered(route, method, status, seconds, notes.stages)
        if is_exempt(scope) and status < 400:
            return
        fields = {"request_id": notes.id, "method": method, "route": route, "status": status}
        fields |= {"ms": round(1000 * seconds, 2), **notes.fields(with_query=self.log_queries)}
        log.info("request", extra={"fields": fields})


def route_of(scope: Scope) -> str:
    """The template of the route, never the requested address, which may contain the question.

    >>> route_of({"path": "/static/1/page.css"}), route_of({"path": "/nothing/here"})
    ('/static', 'other')
    """
    if scope["path"].startswith(STATIC):
        return STATIC.rstrip("/")
    return str(getattr(scope.get("route"), "path", "") or OTHER)
