"""``/v1/explain``: why a document stands where it stands for a question, or why it is not found."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from lexfuse.service.operations.explain import LONGEST_NAME, ExplainRequest, explain
from lexfuse.service.routes.parameters import (
    AsOf,
    Filters,
    IndexName,
    Language,
    ProfileName,
    Question,
    answered_by,
    checked_question,
    day_text,
    service_of,
)
from lexfuse.service.schemas.explanation import ExplainResponse

router = APIRouter(prefix="/v1", tags=["search"])


@router.get("/explain/{document:path}", response_model=ExplainResponse, summary="Why, or why not")
async def explained(
    request: Request,
    document: Annotated[
        str,
        Path(
            min_length=1,
            max_length=LONGEST_NAME,
            description="The id of a document, or a citation of it.",
            examples=["L. 1237-19"],
        ),
    ],
    q: Question,
    index: IndexName = "",
    profile: ProfileName = "",
    filter: Filters = None,
    as_of: AsOf = None,
    language: Language = "",
) -> Response:
    """What every source says about a document, found or not: score, rank, normalised value, weight and contribution."""
    service = service_of(request)
    question = checked_question(service, q)
    ask = ExplainRequest(question, document, index, profile, tuple(filter or ()), day_text(as_of), language)
    return await answered_by(service, explain, service.library, ask)
