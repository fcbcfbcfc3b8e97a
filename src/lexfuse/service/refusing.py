"""Refusing a request before it reaches a route: the same answer that the application gives for the same error."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from lexfuse.errors import LexFuseError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


async def refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with an error, as the application's own handler of such errors does: problem+json, or a page for browsers.

    >>> inspect.iscoroutinefunction(refuse)
    True
    """
    from starlette.requests import Request
    from starlette.responses import Response

    handler = scope["app"].exception_handlers[LexFuseError if isinstance(error, LexFuseError) else Exception]
    answer = handler(Request(scope, receive), error)
    response: Response = await answer if inspect.isawaitable(answer) else answer
    await response(scope, receive, send)
