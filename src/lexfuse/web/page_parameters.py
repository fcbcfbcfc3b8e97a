"""Parameters of pages. Addresses of pages are read, kept and shared by people, so their names are short: `q` and `filter`.

The API has its own names (`query`, `filters`); `SearchState` and the forms translate. Unknown parameters are refused here too.
"""

from __future__ import annotations

from typing import Any

from fastapi import Depends
from starlette.requests import Request

from lexfuse.service.schemas.request_parameters import refuse_unknown

SEARCH = ("q", "index", "profile", "filter", "as_of", "sort", "cursor")  # those of a `SearchState`
_EVERYWHERE = "lang"
_TRACKING = ("utm_", "fbclid", "gclid", "msclkid")  # other sites append these to the links that people share


def accepts(*names: str) -> Any:
    """A dependency of a page that refuses query parameters with other names.

    >>> from fastapi import APIRouter
    >>> _ = APIRouter().get("/help", dependencies=[accepts()])
    """

    async def check(request: Request) -> None:
        refuse_unknown((name for name in request.query_params if not name.startswith(_TRACKING)), (*names, _EVERYWHERE))

    return Depends(check)
