"""``/v1/explain``: why a document has its rank for a question, or why it is not found."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from lexfuse.service.operations.explain import LONGEST_NAME, ExplainRequest, explain
from lexfuse.service.routes.parameters import Question, QuestionParameters, answered_by, check_question, service_of
from lexfuse.service.schemas.explanation import ExplainResponse

router = APIRouter(prefix="/v1", tags=["search"])

DOCUMENT = {
    "min_length": 1,
    "max_length": LONGEST_NAME,
    "description": "Document id, or a citation of the document.",
    "examples": ["L. 1237-19"],
}


class ExplainParameters(QuestionParameters):
    """The question that a document is explained for."""

    query: Question

    def request(self, document: str) -> ExplainRequest:
        """The same for the operation."""
        return ExplainRequest(
            query=self.query, document=document, index=self.index, profile=self.profile, filters=tuple(self.filters),
            as_of=self.day, language=self.language,
        )  # fmt: skip


@router.get(
    "/explain/{document:path}", operation_id="explain", response_model=ExplainResponse, summary="Explain a rank, or an absence"
)
async def explain_document(
    request: Request, document: Annotated[str, Path(**DOCUMENT)], given: Annotated[ExplainParameters, Query()]
) -> Response:
    """Score, rank, normalised value, weight and contribution of every source for a document, found or not."""
    service = service_of(request)
    check_question(service.settings, given.query)
    return await answered_by(service, explain, service.library, given.request(document))
