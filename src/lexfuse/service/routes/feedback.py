"""``/v1/feedback``: add and list judgements of results.

Both need a key with the scope write, unless the service allows anonymous judging: a judgement is kept in the index, with the text
of its question.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from lexfuse.service.change_outcomes import ChangeOutcome
from lexfuse.service.middleware.api_key import require_feedback_scope
from lexfuse.service.openapi import JUDGE, SCOPE
from lexfuse.service.operations.export import JudgementFormat, exported_judgements
from lexfuse.service.operations.feedback import JudgementBody, add_feedback, judgements
from lexfuse.service.routes.documents import PENDING, IndexName, pending
from lexfuse.service.routes.responses import download, json_response, service_of
from lexfuse.service.schemas.document import Judgement, Judgements

router = APIRouter(prefix="/v1", tags=["feedback"])

_QRELS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


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
    format: Annotated[JudgementFormat, Query(description="JSON, or TREC qrels.")] = JudgementFormat.JSON,
) -> Response:
    """Every judgement on an index, with its question. Needs a key with the scope write, unless anonymous judging is allowed."""
    require_feedback_scope(request)
    service = service_of(request)
    found = await service.run(judgements, service.registry, index)
    if format is JudgementFormat.JSON:
        return json_response(found)
    return download(await service.run(exported_judgements, found, format))
