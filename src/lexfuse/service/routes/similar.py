"""``/v1/similar``: documents similar to a whole document, given as text, as a file, or by its id."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from lexfuse.errors import ConfigError
from lexfuse.service.operations.search import MOST_RESULTS
from lexfuse.service.operations.similar import LONGEST_WORD, SimilarRequest, similar, similar_terms
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.routes.parameters import QuestionParameters, answered_by, day_text, service_of, validated
from lexfuse.service.schemas.base import Day
from lexfuse.service.schemas.request_parameters import refuse_unknown
from lexfuse.service.schemas.similar import SimilarPage
from lexfuse.service.uploads import UploadText
from lexfuse.text.kli import TermWeight

router = APIRouter(prefix="/v1", tags=["search"])

Word = Annotated[str, Field(min_length=1, max_length=LONGEST_WORD)]
_WORDS = "each word or word=weight"
_FLAG_WORDS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
_MAX_FIELDS = 1000


class SimilarParameters(QuestionParameters):
    """A whole document as the query."""

    text: str = Field(
        "", description="The whole text; or give document.", examples=["The tenant held over after the lease ended."]
    )
    document: str = Field("", max_length=2000, description="The id of a document of the index; or give text.")
    k: int = Field(10, ge=1, le=MOST_RESULTS, description="Number of results.")
    amount: float | None = Field(
        None,
        gt=0,
        le=100_000,
        description="Terms to use: a share of them up to 1, a number above 1; a tenth and at least ten by default.",
        examples=[0.1],
    )
    weight: Literal["once", "count", "kli"] = Field(
        "once", description="Weight of each term: one, its number of occurrences, or its KLI."
    )
    terms: list[Word] = Field([], max_length=1000, description=f"Search by these alone, {_WORDS}.", examples=[["estoppel=2"]])
    added: list[Word] = Field([], max_length=1000, description=f"Search by these too, {_WORDS}.")
    dropped: list[Word] = Field([], max_length=1000, description="Do not search by these.")
    terms_only: bool = Field(False, strict=True, description="Return the terms that would be searched for, without searching.")
    exclude_self: bool = Field(True, strict=True, description="Leave out the document itself, found by its id or its text.")
    before: Day | None = Field(None, description="Only documents dated before this day.", examples=["2020-01-01"])
    before_own_date: bool = Field(False, strict=True, description="Only documents dated before the one given by its id.")
    mask: bool = Field(False, strict=True, description="Hide citations of decisions in the query.")

    def request(self, text: str = "", name: str = "") -> SimilarRequest:
        """The same for the operation; `text` and `name` are those of an uploaded file."""
        if text and self.text:
            raise ConfigError("give either a text or a file, not both")
        return SimilarRequest(
            text=text or self.text, document=self.document, name=name, index=self.index, profile=self.profile, k=self.k,
            amount=self.amount, weight=TermWeight(self.weight), terms=tuple(self.terms), added=tuple(self.added),
            dropped=tuple(self.dropped), exclude_self=self.exclude_self, before=day_text(self.before),
            before_own_date=self.before_own_date, mask=self.mask, filters=tuple(self.filters), as_of=self.day,
            language=self.language,
        )  # fmt: skip


def _with_file(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a form: the same fields and a file."""
    file = {"type": "string", "format": "binary", "description": "A text, HTML or PDF file."}
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

    Send JSON with a text or the id of a document, or a form with a file (text, HTML or PDF). If the index has sentences, every
    result lists which of its paragraphs match which of the query's.
    """
    service = service_of(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "multipart/form-data":
        async with request.form(max_files=1, max_fields=_MAX_FIELDS, max_part_size=service.settings.max_body_bytes) as form:
            file = form.get("file")
            raw = (await file.read(), file.filename or "file") if isinstance(file, UploadFile) else None
            given = validated(SimilarParameters, _values(form))
        if raw is None:
            return await answered_by(service, _found, service.library, given)
        read = await service.read_upload(*raw)
        return await answered_by(service, _found, service.library, given, read, raw[1])
    if media_type not in ("application/json", ""):
        raise HTTPException(415, "send application/json, or multipart/form-data with a file")
    given = validated(SimilarParameters, await request.body())
    return await answered_by(service, _found, service.library, given)


def _found(library: IndexRegistry, given: SimilarParameters, file: UploadText | None = None, name: str = "") -> SimilarPage:
    """Search, by the text of a file if there is one."""
    ask = given.request(file.text if file else "", name)
    page = similar_terms(library, ask) if given.terms_only else similar(library, ask)
    return page.model_copy(update={"notes": [*file.notes, *page.notes]}) if file else page


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
