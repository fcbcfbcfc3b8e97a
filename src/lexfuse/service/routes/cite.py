"""``/v1/cite``: the citations of a text, and the documents that they mean."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.service.operations.cite import CiteRequest, cite
from lexfuse.service.routes.parameters import IndexName, answered_by, checked_question, service_of
from lexfuse.service.schemas.document import ResolvedCitations
from lexfuse.service.schemas.request_body import RequestBody

router = APIRouter(prefix="/v1", tags=["citations"])

_CODE: dict[str, Any] = {
    "max_length": 500,
    "description": "The code that the text is part of, if it is.",
    "examples": ["Code du travail"],
}


class CiteBody(RequestBody):
    """A text of up to a million characters.

    >>> CiteBody(text="article L. 1237-19").index
    ''
    """

    text: str = Field(
        min_length=1, description="A citation, or a whole text.", examples=["article L. 1237-19 du code du travail"]
    )
    index: str = Field("", max_length=100, description="The index; the first one if not given.")
    code: Annotated[str, Field(**_CODE)] = ""


@router.get("/cite", response_model=ResolvedCitations, summary="Resolve a citation")
async def cited(
    request: Request,
    text: Annotated[str, Query(min_length=1, description="A citation, or a text.", examples=["C-60/22, paragraph 64"])],
    index: IndexName = "",
    code: Annotated[str, Query(**_CODE)] = "",
) -> Response:
    """Every citation of a text, in whatever spelling, with the documents of the index that it means."""
    service = service_of(request)
    ask = CiteRequest(checked_question(service, text), index, code)
    return await answered_by(service, cite, service.library, ask)


@router.post("/cite", response_model=ResolvedCitations, summary="Resolve the citations of a whole text")
async def cited_by_body(request: Request, body: CiteBody) -> Response:
    """The same for a whole text: its first 5,000 citations are looked up, and `more` counts the others."""
    service = service_of(request)
    return await answered_by(service, cite, service.library, CiteRequest(body.text, body.index, body.code))
