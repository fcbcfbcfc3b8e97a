"""Errors as RFC 9457 problem details (``application/problem+json``), from the tree in `lexfuse.errors`.

Errors name files, which helps on the command line. Over the network the folders would only reveal how the server is set up, so
responses keep the names of files without their folders; the log has the paths.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from lexfuse.errors import AccessError, ConfigError, DataError, LexFuseError, LimitError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send


MEDIA_TYPE = "application/problem+json"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_MAX_DETAIL = 500  # characters; a detail may quote the request
_MAX_MESSAGE = 5_000  # characters of a message that are searched; no response shows more
# A quoted path may contain any character. Without quotes it ends at a space, unless a word soon after contains a slash.
_PATH = re.compile(
    r"""(?P<quote>['"])(?P<quoted>/[^'"\n]*)(?P=quote)"""
    r"""|(?<![\w:/.<])(?P<plain>/[^\s'":;,()]+(?:\ (?:[^\s/'":;,()]+\ ){0,3}[^\s/'":;,()]+/[^\s'":;,()]*)*)""",
    re.VERBOSE,
)
_INTERNAL = "an unexpected error occurred; the log has it under the id of this request"


class Problem(BaseModel):
    """What went wrong, where, and what to do (RFC 9457)."""

    type: str = Field(description="Address of the description of this code.", examples=["/docs#unknown-index"])
    code: str = Field(description="Stable name of the kind of problem; compare this, not the detail.", examples=["unknown-index"])
    title: str = Field(description="The kind of problem in words.", examples=["Not found"])
    status: int = Field(description="HTTP status.", examples=[404])
    detail: str = Field(default="", description="What is wrong here, and what to do.", examples=["there is no index 'law'"])
    errors: list[str] = Field(default=[], description="Each invalid parameter, if there are several.")
    request_id: str = Field(default="", description="Id of the request, as in the log.")

    @classmethod
    def of(cls, code: str, title: str, status: int, detail: str, errors: list[str] | None = None) -> Problem:
        """A problem with the type of its code.

        >>> Problem.of("empty-question", "Empty question", 400, "ask with at least one word").type
        '/docs#empty-question'
        """
        return cls(type=f"/docs#{code}", code=code, title=title, status=status, detail=_short(detail), errors=errors or [])


def problem_of(error: Exception) -> Problem:
    """The problem of an error; that of an unexpected one says nothing about the cause.

    >>> from lexfuse.errors import UnknownDocumentError
    >>> problem_of(UnknownDocumentError("no document 'a'")).code, problem_of(KeyError("secret")).code
    ('unknown-document', 'internal-error')
    """
    if isinstance(error, LexFuseError):
        return Problem.of(error.code, error.title, error.status, message_of(error))
    if isinstance(error, RequestValidationError):
        errors = [_short(f"{'.'.join(map(str, one['loc']))}: {one['msg']}") for one in error.errors()]
        return Problem.of(ConfigError.code, ConfigError.title, 422, "; ".join(errors), errors[:20])
    if isinstance(error, HTTPException):
        title = HTTPStatus(error.status_code).phrase
        detail = "" if error.status_code in (404, 405) else str(error.detail)  # the framework only repeats the title there
        return Problem.of(title.lower().replace(" ", "-"), title, error.status_code, detail)
    return Problem.of(LexFuseError.code, LexFuseError.title, LexFuseError.status, _INTERNAL)


def headers_of(error: Exception) -> Mapping[str, str]:
    """Response headers of an error.

    >>> headers_of(LimitError("too many", retry_after=3))
    {'Retry-After': '3'}
    """
    if isinstance(error, LimitError) and error.retry_after is not None:
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, AccessError) and error.status == HTTPStatus.UNAUTHORIZED:
        return {"WWW-Authenticate": 'Bearer realm="LexFuse", Basic realm="LexFuse"'}  # Basic: a browser then asks for the key
    return dict(error.headers or {}) if isinstance(error, HTTPException) else {}


def response_of(error: Exception, request_id: str = "") -> Response:
    """The response to a request that failed.

    >>> response_of(KeyError("x")).status_code
    500
    """
    problem = problem_of(error).model_copy(update={"request_id": request_id})
    return Response(problem.model_dump_json(exclude_defaults=True), problem.status, headers_of(error), MEDIA_TYPE)


def add_problems(app: Starlette, respond: Callable[[Request, Exception, str], Response] | None = None) -> None:
    """Make an application answer every error with a problem, or as `respond` does, given the request, the error and its id."""

    async def answered(request: Request, error: Exception) -> Response:
        request_id = getattr(request.state, "request_id", "")
        return respond(request, error, request_id) if respond else response_of(error, request_id)

    for kind in (LexFuseError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answered)


async def send_problem(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with an error through the application's own handler: problem+json, or a page for browsers."""
    kind = LexFuseError if isinstance(error, LexFuseError) else Exception
    response = await _handled(Request(scope, receive), error, kind)
    await response(scope, receive, send)


async def _handled(request: Request, error: Exception, kind: type[Exception]) -> Response:
    """The response of the application's handler of a kind of errors."""
    answer = request.app.exception_handlers[kind](request, error)
    response: Response = await answer if inspect.isawaitable(answer) else answer
    return response


def methods_of(request: Request) -> list[str]:
    """The methods that all routes of a path accept together; the framework lists those of the first route only.

    >>> from fastapi import FastAPI
    >>> app = FastAPI()
    >>> _ = app.get("/a")(lambda: 1), app.put("/a")(lambda: 2)
    >>> methods_of(Request({"type": "http", "path": "/a", "method": "POST", "headers": [], "app": app}))
    ['GET', 'PUT']
    """
    routes = request.app.router.routes
    return [name for name in METHODS if any(_matches(request, route, name) for route in routes)]


def add_allowed(app: Starlette) -> None:
    """Make an application list every allowed method in a 405 response; its handler of HTTP errors writes the rest."""

    async def answered(request: Request, error: Exception) -> Response:
        detail = getattr(error, "detail", None)
        complete = HTTPException(405, detail, headers={"Allow": ", ".join(methods_of(request))})
        return await _handled(request, complete, HTTPException)

    app.add_exception_handler(405, answered)


def _matches(request: Request, route: object, method: str) -> bool:
    match, _ = route.matches({**request.scope, "method": method})  # type: ignore[attr-defined]
    return match is Match.FULL


def _short(text: str) -> str:
    return text if len(text) <= _MAX_DETAIL else f"{text[:_MAX_DETAIL]}…"


def message_of(error: LexFuseError) -> str:
    """The message of an error, with file names instead of paths.

    >>> message_of(DataError("the file is damaged", path="/srv/our laws/law.index/catalog.sqlite"))
    'catalog.sqlite: the file is damaged'
    """
    text = str(error)[:_MAX_MESSAGE]
    if isinstance(error, DataError) and error.path:
        text = text.replace(error.path, _name(error.path))
    return without_paths(text)


def without_paths(text: str) -> str:
    """A text with file names instead of absolute paths.

    A path begins with a folder of this file system, so that addresses of the API and document ids stay as they are.

    >>> without_paths("cannot write '/usr/laws/law.index/segments': disk full; post it to /v1/similar")
    "cannot write 'segments': disk full; post it to /v1/similar"
    """
    return _PATH.sub(_shortened, text[:_MAX_MESSAGE])


def _shortened(found: re.Match[str]) -> str:
    path, quote = found["quoted"] or found["plain"], found["quote"] or ""
    return f"{quote}{_name(path)}{quote}" if path.split("/")[1] in _roots() else found[0]


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


@cache
def _roots() -> frozenset[str]:
    """The folders at the root of the file system at the first call."""
    return frozenset(path.name for path in Path("/").iterdir())
