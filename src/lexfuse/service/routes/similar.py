"""``/v1/similar``: documents like a whole document, given as text, as a file, or by its id."""

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
from lexfuse.service.schemas.similar import SimilarPage
from lexfuse.service.uploads import UploadText
from lexfuse.text.kli import TermWeight

router = APIRouter(prefix="/v1", tags=["search"])

Word = Annotated[str, Field(min_length=1, max_length=LONGEST_WORD)]
_WORDS = "each word or word=weight"
_LISTS = ("filters", "terms", "added", "dropped")
_FLAGS = ("terms_only", "exclude_self", "before_own_date", "mask")
_FLAG_WORDS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
_MOST_FIELDS = 1000


class SimilarBody(QuestionParameters):
    """A whole document as the query.

    >>> SimilarBody(document="62022CJ0060").exclude_self
    True
    """

    text: str = Field(
        "", description="The whole text; or give document.", examples=["The tenant held over after the lease ended."]
    )
    document: str = Field("", max_length=2000, description="The id of a document of the index; or give text.")
    k: int = Field(10, ge=1, le=MOST_RESULTS, description="How many results.")
    amount: float | None = Field(
        None,
        gt=0,
        le=100_000,
        description="Of terms: up to 1 a share of them, above a number; a tenth and at least ten if not given.",
        examples=[0.1],
    )
    weight: Literal["once", "count", "kli"] = Field("once", description="What each term counts: once, as it occurs, or its KLI.")
    terms: list[Word] = Field([], max_length=1000, description=f"Search by these alone, {_WORDS}.", examples=[["estoppel=2"]])
    added: list[Word] = Field([], max_length=1000, description=f"Search by these too, {_WORDS}.")
    dropped: list[Word] = Field([], max_length=1000, description="Do not search by these.")
    terms_only: bool = Field(False, strict=True, description="Give the terms that would be searched for, and do not search.")
    exclude_self: bool = Field(True, strict=True, description="Leave out the document itself: by its id, or by its text.")
    before: Day | None = Field(None, description="Only documents dated before this day.", examples=["2020-01-01"])
    before_own_date: bool = Field(False, strict=True, description="Only documents dated before the one that is given by its id.")
    mask: bool = Field(False, strict=True, description="Hide citations of decisions in the query.")

    def ask(self, text: str = "", name: str = "") -> SimilarRequest:
        """The same as a call takes it; the text of a file that was sent takes the place of none here."""
        if text and self.text:
            raise ConfigError("give either a text or a file, not both")
        return SimilarRequest(
            text=text or self.text,
            document=self.document,
            name=name,
            index=self.index,
            profile=self.profile,
            k=self.k,
            amount=self.amount,
            weight=TermWeight(self.weight),
            terms=tuple(self.terms),
            added=tuple(self.added),
            dropped=tuple(self.dropped),
            exclude_self=self.exclude_self,
            before=day_text(self.before),
            before_own_date=self.before_own_date,
            mask=self.mask,
            filters=tuple(self.filters),
            as_of=self.day,
            language=self.language,
        )


def _with_file(schema: dict[str, Any]) -> dict[str, Any]:
    """The same fields beside a file."""
    file = {"type": "string", "format": "binary", "description": "A text, HTML or PDF file."}
    return schema | {"title": "SimilarForm", "properties": {"file": file, **schema["properties"]}}


_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": SimilarBody.model_json_schema()},
            "multipart/form-data": {"schema": _with_file(SimilarBody.model_json_schema())},
        },
    }
}


@router.post("/similar", response_model=SimilarPage, summary="Documents like a whole one", openapi_extra=_BODY)
async def resembling(request: Request) -> Response:
    """Documents like a whole document, with the terms that were searched for.

    Send JSON with a text or the id of a document, or a form with a file (text, HTML or PDF). Where the index has sentences, every
    result tells which of its paragraphs met which of the query's.
    """
    service = service_of(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        async with request.form(max_files=1, max_fields=_MOST_FIELDS, max_part_size=service.settings.max_body_bytes) as form:
            file = form.get("file")
            raw = (await file.read(), file.filename or "file") if isinstance(file, UploadFile) else None
            body = validated(SimilarBody, _values(form))
        if raw is None:
            return await answered_by(service, _found, service.library, body)
        read = await service.read_upload(*raw)
        return await answered_by(service, _found, service.library, body, read, raw[1])
    if kind not in ("application/json", ""):
        raise HTTPException(415, "send application/json, or multipart/form-data with a file")
    body = validated(SimilarBody, await request.body())
    return await answered_by(service, _found, service.library, body)


def _found(library: IndexRegistry, body: SimilarBody, file: UploadText | None = None, name: str = "") -> SimilarPage:
    """Search, by the text of a file if there is one."""
    ask = body.ask(file.text if file else "", name)
    page = similar_terms(library, ask) if body.terms_only else similar(library, ask)
    return page.model_copy(update={"notes": [*file.notes, *page.notes]}) if file else page


def _values(form: FormData) -> dict[str, Any]:
    """The fields of a form: those that are lists may come several times; a field that is left empty says nothing."""
    names = dict.fromkeys(name for name, _ in form.multi_items() if name != "file")
    values = {name: [one for one in form.getlist(name) if one != ""] for name in names}
    return {name: some if name in _LISTS else _flag(name, some[-1]) for name, some in values.items() if some}


def _flag(name: str, value: Any) -> Any:
    """A field of a form; one that is true or false as such, if it says so."""
    return _FLAG_WORDS.get(value.lower(), value) if name in _FLAGS and isinstance(value, str) else value
