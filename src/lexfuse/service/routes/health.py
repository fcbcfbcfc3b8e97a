"""Liveness, readiness and metrics."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from lexfuse.errors import OverloadError
from lexfuse.service.metrics import CONTENT_TYPE
from lexfuse.service.openapi import NO_KEY, SCOPE
from lexfuse.service.routes.responses import service_of
from lexfuse.service.schemas.document import ResponseModel

router = APIRouter(tags=["health"])


class Health(ResponseModel):
    """The state of the service."""

    status: Literal["alive", "ready"]
    indexes: dict[str, int] = Field(default={}, description="The version of each index.")
    stuck: int = Field(default=0, description="Search threads still busy with a request whose time is over.")


@router.get("/healthz", operation_id="healthz", summary="Liveness", openapi_extra={SCOPE: NO_KEY})
async def healthz() -> Health:
    """Whether the process answers at all; restart it if it does not."""
    return Health(status="alive")


@router.get("/readyz", operation_id="readyz", summary="Readiness", openapi_extra={SCOPE: NO_KEY}, responses={503: {}})
async def readyz(request: Request) -> Health:
    """Whether indexes and models are loaded and were searched once; send requests only then."""
    service = service_of(request)
    if not getattr(request.app.state, "ready", False):
        raise OverloadError("indexes and models are being loaded; try again in a second", retry_after=1)
    if (stuck := service.stuck) >= service.settings.search_threads:
        raise OverloadError(f"all {stuck} search threads are busy with requests whose time is over; restart the service")
    generations = {name: service.registry.index(name).generation for name in service.registry.names}
    return Health(status="ready", indexes=generations, stuck=stuck)


@router.get(
    "/metrics",
    operation_id="metrics",
    summary="Metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
)
async def metrics(request: Request) -> Response:
    """Counters and histograms, for Prometheus."""
    return Response(request.app.state.metrics.text(), headers={"content-type": CONTENT_TYPE})
