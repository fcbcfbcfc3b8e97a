"""Compressed pages and files, for browsers that accept them.

The pages contain no secret: no key, no token and no address but the reader's own question. So their length reveals nothing that
whoever chooses a part of the page could guess.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request

LEAST = 1000  # bytes, below which nothing is gained
LEVEL = 5  # of pages, which are made for each request; files are compressed once
VARIES = "Accept-Encoding"


def accepts_gzip(accepted: str) -> bool:
    """Whether an `Accept-Encoding` allows gzip.

    >>> accepts_gzip("gzip, deflate, br"), accepts_gzip("br;q=1.0, *;q=0.5"), accepts_gzip("gzip;q=0, *"), accepts_gzip("")
    (True, True, False, False)
    """
    weights = {}
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        weights[name.strip()] = weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return weights.get("gzip", weights.get("*", False))


def gzipped(content: bytes, level: int = LEVEL) -> bytes:
    """The compressed content; the same content gives the same bytes.

    >>> gzip.decompress(gzipped(b"law"))
    b'law'
    """
    return gzip.compress(content, level, mtime=0)


def compress(request: Request, response: Response) -> None:
    """Compress the body of a response, if it is long enough and the browser accepts it.

    >>> from starlette.requests import Request
    >>> response = Response("law " * 1000)
    >>> compress(Request({"type": "http", "headers": [(b"accept-encoding", b"gzip")]}), response)
    >>> response.headers["content-encoding"], int(response.headers["content-length"]) < 100
    ('gzip', True)
    """
    response.headers["Vary"] = ", ".join(filter(None, (response.headers.get("Vary", ""), VARIES)))
    if len(response.body) >= LEAST and accepts_gzip(request.headers.get("accept-encoding", "")):
        response.body = gzipped(bytes(response.body))
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.body))
