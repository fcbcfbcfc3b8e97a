"""``/v1/documents``: read, write and delete documents."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from lexfuse.service.api_keys import KeyScope
from lexfuse.service.change_outcomes import ChangeOutcome
from lexfuse.service.middleware.api_key import require
from lexfuse.service.openapi import SCOPE
from lexfuse.service.operations.document_writes import DocumentBody, delete_document, put_document
from lexfuse.service.operations.documents import DocumentRequest, document
from lexfuse.service.operations.preconditions import Precondition
from lexfuse.service.routes.changes import PENDING, pending
from lexfuse.service.routes.parameters import DocumentName, IndexName, answered, service_of
from lexfuse.service.schemas.document import DocumentAnswer, DocumentChange, DocumentWritten

router = APIRouter(prefix="/v1", tags=["documents"])

_TAG = {"description": "Changes whenever the document does.", "schema": {"type": "string"}}
_ETAG: dict[str, Any] = {"headers": {"ETag": _TAG}}
_WRITING: dict[int | str, dict[str, Any]] = {**PENDING, 412: {}, 507: {}}

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
async def read_document(request: Request, document_id: DocumentName, index: IndexName = "") -> Response:
    """A document with its paragraphs, the documents it cites and that cite it, its neighbours and other versions."""
    service = service_of(request)
    found = await service.run(document, service.library, DocumentRequest(document_id, index))
    return answered(found, headers={"ETag": f'"{found.document.etag}"'})


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
    done = await service.write(index, put_document, service.library, document_id, body, index=index, precondition=precondition)
    if isinstance(done, ChangeOutcome):
        return pending(done)
    return answered(done, 201 if done.change is DocumentChange.CREATED else 200, {"ETag": f'"{done.etag}"'})


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
    done = await service.write(index, delete_document, service.library, document_id, index=index, precondition=precondition)
    return pending(done) if isinstance(done, ChangeOutcome) else answered(done)
