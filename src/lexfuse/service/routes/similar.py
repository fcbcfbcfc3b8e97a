"""``/v1/similar``: documents similar to a whole document, given as text, as a file, or by its id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from lexfuse.errors import ConfigError
from lexfuse.service.operations.similar import SimilarParameters, similar
from lexfuse.service.parameters import refuse_unknown, validated
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.routes.responses import answered, service_of
from lexfuse.service.schemas.similar import SimilarPage

router = APIRouter(prefix="/v1", tags=["search"])

_FLAG_WORDS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
_MAX_FIELDS = 1000


def _with_file(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a form: the same fields and a file."""
    file = {"type": "string", "format": "binary", "description": "A text, HTML, PDF, DOCX or ODT file."}
    return schema | {"title": "SimilarForm", "properties": {"file": file, **schema["properties"]}}


_SCHEMA = SimilarParameters.model_json_schema()
_LISTS = frozenset(name for name, schema in _SCHEMA["properties"].items() if schema.get("type") == "array")
_FLAGS = frozenset(name for name, schema in _SCHEMA["properties"].items() if schema.get("type") == "boolean")
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": _SCHEMA}, "multipart/form-data": {"schema": _with_file(_SCHEMA)}},
    }
}


@router.post(
    "/similar",
    operation_id="similar",
    response_model=SimilarPage,
    summary="Find documents similar to a whole one",
    openapi_extra=_BODY,
    responses={415: {}},
)
async def similar_documents(request: Request) -> Response:
    """Documents similar to a whole document, with the terms that were searched for.

    Send JSON with a text or the id of a document, or a form with a file (text, HTML, PDF, DOCX or ODT). If the index has
    sentences, every
    result lists which of its paragraphs match which of the query's.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "multipart/form-data":
        return await _answered_form(request)
    if media_type not in ("application/json", ""):
        raise HTTPException(415, "send application/json, or multipart/form-data with a file")
    return await answered(request, similar, validated(SimilarParameters, await request.body()))


async def _answered_form(request: Request) -> Response:
    service = service_of(request)
    async with request.form(max_files=1, max_fields=_MAX_FIELDS, max_part_size=service.settings.max_body_bytes) as form:
        file = form.get("file")
        raw = (await file.read(), file.filename or "file") if isinstance(file, UploadFile) else None
        given = validated(SimilarParameters, _values(form))
    if raw is None:
        return await answered(request, similar, given)
    upload = await service.read_upload(*raw)
    if upload.text and given.text:
        raise ConfigError("give either a text or a file, not both")

    operation = _SimilarToFile(raw[1], tuple(upload.notes))
    return await answered(request, operation, given.model_copy(update={"text": upload.text or given.text}))


@dataclass(frozen=True, slots=True)
class _SimilarToFile:
    """The operation for the text of a file, with the remarks of its reader."""

    name: str
    notes: tuple[str, ...]

    def __call__(self, registry: IndexRegistry, given: SimilarParameters) -> SimilarPage:
        page = similar(registry, given, file_name=self.name)
        return page.model_copy(update={"notes": [*self.notes, *page.notes]})


def _values(form: FormData) -> dict[str, Any]:
    """The fields of a form: a list may be given several times, and an empty field is a field that was not given."""
    refuse_unknown(form, ["file", *SimilarParameters.model_fields])
    values = {name: [one for one in form.getlist(name) if one != ""] for name in form if name != "file"}
    for name, given in values.items():
        if len(given) > 1 and name not in _LISTS:
            raise ConfigError(f"{name} is given {len(given)} times; give it once")
    return {name: given if name in _LISTS else _value(name, given[0]) for name, given in values.items() if given}


def _value(name: str, value: Any) -> Any:
    return _FLAG_WORDS.get(value.lower(), value) if name in _FLAGS and isinstance(value, str) else value
