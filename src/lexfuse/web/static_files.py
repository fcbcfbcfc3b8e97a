"""Style, scripts and icon of the pages. Their addresses contain a hash of all files, so that browsers may cache them for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from fastapi import APIRouter, Request
from starlette.responses import Response

from lexfuse.errors import NotFoundError
from lexfuse.web.compression import LEAST, VARIES, accepts_gzip, gzipped

router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parent / "static"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """Files by name, and the version in their addresses.

    >>> StaticFiles({"style.css": b""}, "0a1b").url("style.css")
    '/static/0a1b/style.css'
    """

    contents: Mapping[str, bytes]
    version: str

    def url(self, name: str) -> str:
        """The address of a file."""
        if name not in self.contents:
            raise NotFoundError(f"there is no file {name!r} among the page's files; there are {', '.join(sorted(self.contents))}")
        return f"/static/{self.version}/{name}"


@cache
def static_files() -> StaticFiles:
    """The files of the package. Scripts import each other by relative names, so all have one version.

    >>> static_files().contents["icon.svg"][:4]
    b'<svg'
    """
    paths = sorted(path for path in FOLDER.iterdir() if path.suffix in TYPES)
    contents = {path.name: path.read_bytes() for path in paths}
    everything = b"".join(name.encode() + b"\0" + content + b"\0" for name, content in contents.items())
    return StaticFiles(contents, hashlib.sha256(everything).hexdigest()[:12])


@cache
def _compressed(name: str) -> bytes:
    return gzipped(static_files().contents[name], level=9)


@router.get("/static/{version}/{name}")
async def static_file(request: Request, version: str, name: str) -> Response:
    """A static file, from memory. Other versions are not served: only outdated pages request them."""
    files = static_files()
    if version != files.version or name not in files.contents:
        raise NotFoundError("there is no such file; reload the page")
    kind = TYPES[PurePosixPath(name).suffix]
    if len(files.contents[name]) >= LEAST and accepts_gzip(request.headers.get("accept-encoding", "")):
        return Response(_compressed(name), media_type=kind, headers={"Content-Encoding": "gzip", "Vary": VARIES})
    return Response(files.contents[name], media_type=kind, headers={"Vary": VARIES})
