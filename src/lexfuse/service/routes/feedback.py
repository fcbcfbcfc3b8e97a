"""``/v1/feedback``: judgements on results, given and had.

Both need a key that allows to write, unless the service lets anybody judge: a judgement is kept with the index, and holds the
text of somebody's question.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from lexfuse.service.change_outcomes import ChangeOutcome
from lexfuse.service.middleware.api_key import require_feedback_scope
from lexfuse.service.operations.export import JudgementFormat, exported_judgements
from lexfuse.service.operations.feedback import JudgementBody, add_feedback, judgements
from lexfuse.service.routes.changes import PENDING, pending
from lexfuse.service.routes.parameters import IndexName, answered, handed_out, service_of
from lexfuse.service.schemas.feedback import Judgement, Judgements

router = APIRouter(prefix="/v1", tags=["feedback"])

_QRELS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.post("/feedback", response_model=Judgement, status_code=201, summary="Judge a result", responses=PENDING)
async def judged(request: Request, body: JudgementBody) -> Response:
    """Keep how well a document answers a question. A key that allows to write is needed, unless anybody may judge."""
    require_feedback_scope(request)
    service = service_of(request)
    kept = await service.write(body.index, add_feedback, service.library, body)
    return pending(kept) if isinstance(kept, ChangeOutcome) else answered(kept, 201)


@router.get("/feedback", response_model=Judgements, summary="All judgements", responses=_QRELS)
async def every(
    request: Request,
    index: IndexName = "",
    format: Annotated[JudgementFormat, Query(description="As JSON, or as TREC qrels.")] = JudgementFormat.JSON,
) -> Response:
    """Every judgement on an index, with its question. A key that allows to write is needed, unless anybody may judge."""
    require_feedback_scope(request)
    service = service_of(request)
    found = await service.run(judgements, service.library, index)
    if format is JudgementFormat.JSON:
        return answered(found)
    return handed_out(await service.run(exported_judgements, found, format))
