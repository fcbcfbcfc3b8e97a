"""Whether the service lives, whether it is ready, and what it has counted."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from lexfuse.errors import OverloadError
from lexfuse.service.context import ServiceContext
from lexfuse.service.metrics import CONTENT_TYPE
from lexfuse.service.schemas.base import ResponseModel

router = APIRouter(tags=["health"])


class Health(ResponseModel):
    """How the service is.

    >>> Health(status="alive").indexes
    {}
    """

    status: Literal["alive", "ready"]
    indexes: dict[str, int] = Field(default_factory=dict)  # the version of each that is searched
    stuck: int = 0  # threads that search and are at a call that nobody waits for any more


@router.get("/healthz")
async def healthz() -> Health:
    """Whether the process answers at all: for whoever restarts it when it does not."""
    return Health(status="alive")


@router.get("/readyz")
async def readyz(request: Request) -> Health:
    """Whether indexes and models are loaded and have been tried: for whoever sends requests here only when they are."""
    service: ServiceContext = request.app.state.service
    library = service.library
    if not getattr(request.app.state, "ready", False):
        raise OverloadError("indexes and models are being loaded; try again in a second", retry_after=1)
    if (stuck := service.stuck) >= service.settings.workers:
        raise OverloadError(f"all {stuck} threads that search are at calls that should have ended; restart the service")
    return Health(status="ready", indexes={name: library.shelf(name).generation for name in library.names}, stuck=stuck)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Everything that was counted, for Prometheus."""
    return Response(request.app.state.metrics.text(), headers={"content-type": CONTENT_TYPE})
