"""The methods that an address takes: told to whoever asks by another one (RFC 9110, 15.5.6)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

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
