"""``/v1/profiles``: the indexes of the service and their profiles."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from lexfuse.service.operations.index_list import index_list
from lexfuse.service.routes.parameters import answered, service_of
from lexfuse.service.schemas.index_list import IndexList

router = APIRouter(prefix="/v1", tags=["search"])


@router.get("/profiles", operation_id="list_profiles", response_model=IndexList, summary="List indexes and profiles")
async def list_profiles(request: Request) -> Response:
    """The indexes with their sizes and versions, and the profiles of each."""
    service = service_of(request)
    return answered(await service.run(index_list, service.library))
