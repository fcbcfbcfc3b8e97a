"""Paths that need no key, and have no rate limit and no log lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEALTH = ("/healthz", "/readyz")
STATIC = "/static/"


def is_exempt(scope: Mapping[str, Any]) -> bool:
    """Whether a request is for a health check or a static file.

    >>> is_exempt({"path": "/healthz"}), is_exempt({"path": "/static/page.css"}), is_exempt({"path": "/v1/search"})
    (True, True, False)
    """
    path = str(scope["path"])
    return path in HEALTH or path.startswith(STATIC)


def header(scope: Mapping[str, Any], name: str) -> str:
    """The last value of a header, which the nearest proxy wrote, or an empty text.

    >>> header({"headers": [(b"host", b"law.example")]}, "Host")
    'law.example'
    """
    wanted = name.lower().encode("latin-1", "replace")
    values = [value for key, value in scope["headers"] if key == wanted]
    return values[-1].decode("latin-1") if values else ""
