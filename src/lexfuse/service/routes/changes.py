"""``/v1/changes``: the outcome of a change that took longer than its request."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from lexfuse.service.change_outcomes import ChangeOutcome, State
from lexfuse.service.middleware.api_key import require_feedback_scope
from lexfuse.service.openapi import JUDGE, SCOPE
from lexfuse.service.problems import problem_of
from lexfuse.service.routes.parameters import answered, service_of
from lexfuse.service.schemas.document import PendingChange

router = APIRouter(prefix="/v1", tags=["documents"])

PENDING: dict[int | str, dict[str, Any]] = {
    202: {"model": PendingChange, "description": "The change is in progress; its outcome is at the address in Location."}
}
RETRY_AFTER = 1  # seconds


@router.get(
    "/changes/{change}",
    operation_id="change_outcome",
    response_model=PendingChange,
    summary="Outcome of a change",
    openapi_extra={SCOPE: JUDGE},
)
async def change_outcome(
    request: Request, change: Annotated[str, Path(max_length=100, description="The id in the response 202.")]
) -> Response:
    """The state of a change that was answered with 202: pending, done, or failed."""
    require_feedback_scope(request)
    return answered(pending_change(service_of(request).outcomes.of(change)))


def pending(outcome: ChangeOutcome[Any]) -> Response:
    """The response to a change that is being committed when the time of its request is over."""
    headers = {"Location": f"/v1/changes/{outcome.id}", "Retry-After": str(RETRY_AFTER)}
    return answered(pending_change(outcome), 202, headers)


def pending_change(outcome: ChangeOutcome[Any]) -> PendingChange:
    """The state of a change, with its result or its problem.

    >>> from concurrent.futures import Future
    >>> pending_change(ChangeOutcome("a", Future())).state.value
    'pending'
    """
    if (state := outcome.state) is State.PENDING:
        return PendingChange(id=outcome.id, state=state)
    if isinstance(error := outcome.future.exception(), Exception):
        return PendingChange(id=outcome.id, state=state, problem=problem_of(error))
    return PendingChange(id=outcome.id, state=state, result=outcome.future.result())
