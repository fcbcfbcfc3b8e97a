"""``/v1/feedback``: add and list judgements of results.

Both need a key with the scope write, unless the service allows anonymous judging: a judgement is kept in the index, with the text
of its question.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from lexfuse.data.judgements import NAME_LENGTH, NAME_PATTERN
from lexfuse.service.change_outcomes import ChangeOutcome
from lexfuse.service.middleware.api_key import require_feedback_scope
from lexfuse.service.openapi import JUDGE, SCOPE
from lexfuse.service.operations.export import JudgementFormat, exported_judgements
from lexfuse.service.operations.feedback import JudgementBody, add_feedback, judgements
from lexfuse.service.operations.judgement_bench import judging_summary
from lexfuse.service.routes.documents import PENDING, IndexName, pending
from lexfuse.service.routes.responses import download, json_response, service_of
from lexfuse.service.schemas.document import Judgement, Judgements
from lexfuse.service.schemas.judgement_summary import JudgingSummary

router = APIRouter(prefix="/v1", tags=["feedback"])

JudgeName = Annotated[
    str,
    Query(max_length=NAME_LENGTH, pattern=NAME_PATTERN, description="Only judgements of this judge.", examples=["Anna"]),
]
_TEXT: dict[str, Any] = {"schema": {"type": "string"}}
_QRELS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": _TEXT, "application/x-ndjson": _TEXT}}}


@router.post(
    "/feedback",
    operation_id="add_judgement",
    response_model=Judgement,
    status_code=201,
    summary="Judge a result",
    responses={**PENDING, 507: {}},
    openapi_extra={SCOPE: JUDGE},
)
async def add_judgement(request: Request, body: JudgementBody) -> Response:
    """Record how well a document answers a question. Needs a key with the scope write, unless anonymous judging is allowed."""
    require_feedback_scope(request)
    service = service_of(request)
    kept = await service.write(body.index, add_feedback, service.registry, body)
    return pending(kept) if isinstance(kept, ChangeOutcome) else json_response(kept, 201)


@router.get(
    "/feedback",
    operation_id="list_judgements",
    response_model=Judgements,
    summary="List all judgements",
    responses=_QRELS,
    openapi_extra={SCOPE: JUDGE},
)
async def list_judgements(
    request: Request,
    index: IndexName = "",
    format: Annotated[
        JudgementFormat, Query(description="JSON, TREC qrels, or the queries of the qrels.")
    ] = JudgementFormat.JSON,
    judge: JudgeName = "",
) -> Response:
    """Every judgement on an index, with its question.

    Qrels have one grade for each result: the median of the last grades of all judges, and of two in the middle the lower one.
    Needs a key with the scope write, unless anonymous judging is allowed.
    """
    require_feedback_scope(request)
    service = service_of(request)
    found = await service.run(judgements, service.registry, index, judge)
    if format is JudgementFormat.JSON:
        return json_response(found)
    return download(await service.run(exported_judgements, found, format))


@router.get(
    "/feedback/summary",
    operation_id="summarise_judgements",
    response_model=JudgingSummary,
    summary="Progress of judging and agreement of judges",
    openapi_extra={SCOPE: JUDGE},
)
async def summarise_judgements(request: Request, index: IndexName = "") -> Response:
    """What is judged, by whom, and how judges agree. Needs a key with the scope write, unless anonymous judging is allowed."""
    require_feedback_scope(request)
    service = service_of(request)
    return json_response(await service.run(judging_summary, service.registry, index))
