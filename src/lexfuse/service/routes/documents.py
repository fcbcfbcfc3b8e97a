"""``/v1/documents``: read, write and delete documents; ``/v1/changes``: the outcome of a change that took long."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from starlette.responses import Response

from lexfuse.service.api_keys import KeyScope
from lexfuse.service.change_outcomes import ChangeOutcome, State
from lexfuse.service.middleware.api_key import require, require_feedback_scope
from lexfuse.service.openapi import JUDGE, SCOPE
from lexfuse.service.operations.document_writes import DocumentBody, Precondition, delete_document, put_document
from lexfuse.service.operations.documents import document
from lexfuse.service.parameters import INDEX, Day
from lexfuse.service.problems import problem_of
from lexfuse.service.routes.responses import json_response, service_of
from lexfuse.service.schemas.document import DocumentAnswer, DocumentChange, DocumentWritten, PendingChange

router = APIRouter(prefix="/v1", tags=["documents"])

PENDING: dict[int | str, dict[str, Any]] = {
    202: {"model": PendingChange, "description": "The change is in progress; its outcome is at the address in Location."}
}
RETRY_AFTER = 1  # seconds
_TAG = {"description": "Changes whenever the document does.", "schema": {"type": "string"}}
_ETAG: dict[str, Any] = {"headers": {"ETag": _TAG}}
_WRITING: dict[int | str, dict[str, Any]] = {**PENDING, 412: {}, 507: {}}

IndexName = Annotated[str, Query(**INDEX)]
AsOf = Annotated[Day | None, Query(description="Its version of this day; today by default.", examples=["2016-09-30"])]
DocumentName = Annotated[str, Path(min_length=1, max_length=2000, description="Document id.", examples=["LEGIARTI000006901112"])]
IfMatch = Annotated[
    str | None, Header(max_length=2000, description="Only if the document still has this ETag.", examples=['"3f2a"'])
]
IfNoneMatch = Annotated[str | None, Header(max_length=2000, description="*: only if there is no such document.", examples=["*"])]


@router.get(
    "/documents/{document_id:path}",
    operation_id="read_document",
    response_model=DocumentAnswer,
    summary="Read a document",
    responses={200: _ETAG},
)
async def read_document(request: Request, document_id: DocumentName, index: IndexName = "", as_of: AsOf = None) -> Response:
    """A document with its paragraphs, the documents it cites and that cite it, its neighbours and other versions."""
    service = service_of(request)
    found = await service.run(document, service.registry, document_id, index, as_of)
    return json_response(found, headers={"ETag": f'"{found.document.etag}"'})


@router.put(
    "/documents/{document_id:path}",
    operation_id="write_document",
    response_model=DocumentWritten,
    summary="Write a document",
    responses={200: _ETAG, 201: {"model": DocumentWritten, "description": "The document is new.", **_ETAG}, **_WRITING},
    openapi_extra={SCOPE: KeyScope.WRITE},
)
async def write_document(
    request: Request,
    document_id: DocumentName,
    body: DocumentBody,
    index: IndexName = "",
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Create or replace a document; the next search finds it. Needs a key with the scope write."""
    require(request, KeyScope.WRITE)
    service, precondition = service_of(request), Precondition.parse(if_match, if_none_match)
    done = await service.write(index, put_document, service.registry, document_id, body, index=index, precondition=precondition)
    if isinstance(done, ChangeOutcome):
        return pending(done)
    return json_response(done, 201 if done.change is DocumentChange.CREATED else 200, {"ETag": f'"{done.etag}"'})


@router.delete(
    "/documents/{document_id:path}",
    operation_id="delete_document",
    response_model=DocumentWritten,
    summary="Delete a document",
    responses=_WRITING,
    openapi_extra={SCOPE: KeyScope.WRITE},
)
async def remove_document(
    request: Request, document_id: DocumentName, index: IndexName = "", if_match: IfMatch = None
) -> Response:
    """Delete a document; the next search does not find it. Needs a key with the scope write."""
    require(request, KeyScope.WRITE)
    service, precondition = service_of(request), Precondition.parse(if_match, None)
    done = await service.write(index, delete_document, service.registry, document_id, index=index, precondition=precondition)
    return pending(done) if isinstance(done, ChangeOutcome) else json_response(done)


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
    return json_response(pending_change(service_of(request).outcomes.of(change)))


def pending(outcome: ChangeOutcome[Any]) -> Response:
    """The response to a change that is being committed when the time of its request is over."""
    headers = {"Location": f"/v1/changes/{outcome.id}", "Retry-After": str(RETRY_AFTER)}
    return json_response(pending_change(outcome), 202, headers)


def pending_change(outcome: ChangeOutcome[Any]) -> PendingChange:
    """The state of a change, with its result or its problem."""
    if (state := outcome.state) is State.PENDING:
        return PendingChange(id=outcome.id, state=state)
    if isinstance(error := outcome.future.exception(), Exception):
        return PendingChange(id=outcome.id, state=state, problem=problem_of(error))
    return PendingChange(id=outcome.id, state=state, result=outcome.future.result())
