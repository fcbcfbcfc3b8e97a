"""``/v1/profiles``: everything that can be searched, and how."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from lexfuse.service.answers.profiles import Profiles
from lexfuse.service.profiling import profiles
from lexfuse.service.routes.parameters import answered, service_of

router = APIRouter(prefix="/v1", tags=["search"])


@router.get("/profiles", response_model=Profiles, summary="Indexes and profiles")
async def offered(request: Request) -> Response:
    """The indexes with their sizes and versions, and the profiles that each can be searched by."""
    service = service_of(request)
    return answered(await service.run(profiles, service.library))
