"""Every error as RFC 9457 problem+json, from the one table in `lexfuse.errors`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from lexfuse.errors import AccessError, LexFuseError, LimitError
from lexfuse.service.redaction import message_of

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send


MEDIA_TYPE = "application/problem+json"
_LONGEST = 500  # characters of a detail: what was sent may be in it


class Problem(BaseModel):
    """What went wrong, where, and what to do.

    >>> Problem(title="Invalid parameter", status=400, detail="k must be at least 1, got 0").type
    'about:blank'
    """

    type: str = Field(
        default="about:blank", description="The kind of problem; the title and status say it all where it is about:blank."
    )
    title: str = Field(description="The kind of problem in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(default="", description="What is wrong here, and what to do.")
    errors: list[str] = Field(default=[], description="Each parameter that is wrong.")
    request_id: str = Field(default="", description="The id of the request, as the log has it.")


def problem_of(error: Exception) -> Problem:
    """The problem that an error is; one that was not foreseen tells nothing of the inside.

    >>> from lexfuse.errors import NotFoundError
    >>> problem_of(NotFoundError("no document 'a'")).status, problem_of(KeyError("secret")).detail
    (404, 'something went wrong inside; the log has it under the id of this request')
    """
    if isinstance(error, LexFuseError):
        return Problem(title=error.title, status=error.status, detail=_short(message_of(error)))
    if isinstance(error, RequestValidationError):
        errors = [_short(f"{'.'.join(map(str, one['loc']))}: {one['msg']}") for one in error.errors()]
        return Problem(title="Invalid parameter", status=422, detail="; ".join(errors)[:_LONGEST], errors=errors[:20])
    if isinstance(error, HTTPException):
        title = HTTPStatus(error.status_code).phrase
        return Problem(title=title, status=error.status_code, detail=_short(str(error.detail)))
    detail = "something went wrong inside; the log has it under the id of this request"
    return Problem(title=LexFuseError.title, status=LexFuseError.status, detail=detail)


def headers_of(error: Exception) -> Mapping[str, str]:
    """Headers that go with an error.

    >>> headers_of(LimitError("too many", retry_after=3))
    {'Retry-After': '3'}
    """
    if isinstance(error, LimitError) and error.retry_after is not None:
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, AccessError) and error.status == HTTPStatus.UNAUTHORIZED:
        return {"WWW-Authenticate": 'Bearer realm="LexFuse", Basic realm="LexFuse"'}  # by the second a browser asks for the key
    return dict(error.headers or {}) if isinstance(error, HTTPException) else {}


def response_of(error: Exception, request_id: str = "") -> Response:
    """The answer to a request that failed.

    >>> response_of(KeyError("x")).status_code
    500
    """
    problem = problem_of(error).model_copy(update={"request_id": request_id})
    return Response(
        problem.model_dump_json(exclude_defaults=True, exclude={"type"} if problem.type == "about:blank" else set()),
        problem.status,
        headers_of(error),
        MEDIA_TYPE,
    )


def add_problems(app: FastAPI) -> None:
    """Have an application answer every error as a problem.

    >>> add_problems(FastAPI())
    """

    async def answered(request: Request, error: Exception) -> Response:
        return response_of(error, getattr(request.state, "request_id", ""))

    for kind in (LexFuseError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answered)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


async def send_problem(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with an error, as the application's own handler of such errors does: problem+json, or a page for browsers.

    >>> inspect.iscoroutinefunction(send_problem)
    True
    """
    from starlette.requests import Request

    handler = scope["app"].exception_handlers[LexFuseError if isinstance(error, LexFuseError) else Exception]
    answer = handler(Request(scope, receive), error)
    response: Response = await answer if inspect.isawaitable(answer) else answer
    await response(scope, receive, send)


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


def methods_of(request: Request) -> list[str]:
    """The methods that the address of a request takes, of all routes; the framework tells those of the first alone.

    >>> from fastapi import FastAPI
    >>> from starlette.requests import Request
    >>> app = FastAPI()
    >>> _ = app.get("/a")(lambda: 1), app.put("/a")(lambda: 2)
    >>> methods_of(Request({"type": "http", "path": "/a", "method": "POST", "headers": [], "app": app}))
    ['GET', 'PUT']
    """
    routes = request.app.router.routes
    return [name for name in METHODS if any(_full(request, route, name) for route in routes)]


def add_allowed(app: Starlette) -> None:
    """Have an application tell every method that is allowed; the answer is otherwise that of its handler of HTTP errors.

    >>> from fastapi import FastAPI
    >>> add_allowed(FastAPI())
    """

    async def answered(request: Request, error: Exception) -> Response:
        detail = getattr(error, "detail", None)
        told = HTTPException(405, detail, headers={"Allow": ", ".join(methods_of(request))})
        answer = request.app.exception_handlers[HTTPException](request, told)
        response: Response = await answer if inspect.isawaitable(answer) else answer
        return response

    app.add_exception_handler(405, answered)


def _full(request: Request, route: object, method: str) -> bool:
    match, _ = route.matches({**request.scope, "method": method})  # type: ignore[attr-defined]
    return match is Match.FULL
