"""Responses of endpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel
from starlette.responses import Response

from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.export import Export
from lexfuse.service.registry import IndexRegistry

Given = TypeVar("Given", bound=BaseModel)


def service_of(request: Request) -> ServiceContext:
    """The service that answers a request."""
    service: ServiceContext = request.app.state.service
    return service


def json_response(value: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as a JSON response; unlike FastAPI, it does not validate the value again."""
    return Response(value.model_dump_json(), status, headers, "application/json")


async def answered(request: Request, operation: Callable[[IndexRegistry, Given], BaseModel], given: Given) -> Response:
    """The answer of an operation as a JSON response, serialised where it was made so that it delays no other request."""
    return Response(await service_of(request).written(operation, given), media_type="application/json")


def download(export: Export) -> Response:
    """A file that the browser saves. Its name is fixed, so it contains nothing of a question.

    >>> download(Export("a", "text/plain", "a.txt")).headers["content-disposition"]
    'attachment; filename="a.txt"'
    """
    return Response(export.text.encode("utf-8", "replace"), headers=export.headers, media_type=export.media_type)
