"""``/v1/cite``: the citations in a text, and the documents they refer to."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from lexfuse.service.operations.cite import CiteRequest, cite
from lexfuse.service.routes.parameters import IndexParameters, answered_by, service_of
from lexfuse.service.schemas.document import ResolvedCitations

router = APIRouter(prefix="/v1", tags=["citations"])


class CiteParameters(IndexParameters):
    """A text of up to a million characters."""

    text: str = Field(
        min_length=1, description="A citation, or a whole text.", examples=["article L. 1237-19 du code du travail"]
    )
    code: str = Field("", max_length=500, description="The code that the text belongs to, if any.", examples=["Code du travail"])

    def request(self) -> CiteRequest:
        """The same for the operation."""
        return CiteRequest(text=self.text, index=self.index, code=self.code)


@router.get("/cite", operation_id="cite", response_model=ResolvedCitations, summary="Resolve a citation")
async def cite_by_get(request: Request, given: Annotated[CiteParameters, Query()]) -> Response:
    """Every citation in a text, in any spelling, with the documents of the index it refers to."""
    service = service_of(request)
    return await answered_by(service, cite, service.library, given.request())


@router.post("/cite", operation_id="cite_post", response_model=ResolvedCitations, summary="Resolve the citations of a whole text")
async def cite_by_post(request: Request, given: CiteParameters) -> Response:
    """The same for a whole text: its first 5,000 citations are resolved, and `more` counts the others."""
    return await cite_by_get(request, given)
