"""``/static/{version}/{name}``: style, scripts and icon."""

from __future__ import annotations

from pathlib import PurePosixPath

from fastapi import APIRouter
from starlette.responses import Response

from lexfuse.errors import NotFoundError
from lexfuse.web.static_files import TYPES, static_files

router = APIRouter(include_in_schema=False)


@router.get("/static/{version}/{name}")
async def static_file(version: str, name: str) -> Response:
    """A static file, from memory. Other versions are not served: only outdated pages request them."""
    files = static_files()
    if version != files.version or name not in files.contents:
        raise NotFoundError("there is no such file; reload the page")
    return Response(files.contents[name], media_type=TYPES[PurePosixPath(name).suffix])
