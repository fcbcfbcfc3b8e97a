"""What several addresses take, each with its bounds, and how they answer."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from lexfuse.errors import TooLargeError
from lexfuse.service.context import ServiceContext
from lexfuse.service.middleware.request_log import note_answer
from lexfuse.service.operations.export import Export
from lexfuse.service.schemas.base import Day
from lexfuse.service.schemas.request_body import RequestBody

Body = TypeVar("Body", bound=BaseModel)
Parameters = ParamSpec("Parameters")

_INDEX: dict[str, Any] = {"max_length": 100, "description": "The index; the first one if not given.", "examples": ["fr-labour"]}
_PROFILE: dict[str, Any] = {
    "max_length": 200,
    "description": "How to search, by the name of a profile; the index's own if not given.",
}
_FILTER = "field=value, field=a,b, date>=2020-01-01, headings^=A > B, court!=X; all must hold."
_AS_OF: dict[str, Any] = {"description": "Only what was in force on this day.", "examples": ["2024-01-01"]}
_LANGUAGE: dict[str, Any] = {
    "pattern": "^([a-z]{2,3})?$",
    "description": "Language of the question; detected if not given.",
    "examples": ["fr"],
}

Condition = Annotated[str, Field(max_length=1000)]
IndexName = Annotated[str, Query(**_INDEX)]
ProfileName = Annotated[str, Query(**_PROFILE, examples=["hybrid"])]
Question = Annotated[
    str,
    Query(min_length=1, description="The question, in any words; citations are understood.", examples=["durée du préavis"]),
]
Filters = Annotated[list[Condition] | None, Query(max_length=50, description=_FILTER, examples=[["code=Code du travail"]])]
AsOf = Annotated[Day | None, Query(**_AS_OF)]
Language = Annotated[str, Query(**_LANGUAGE)]
DocumentName = Annotated[
    str, Path(min_length=1, max_length=2000, description="The id of a document.", examples=["LEGIARTI000006901112"])
]


class QuestionParameters(RequestBody):
    """What every body that asks something may say.

    >>> QuestionParameters(filters=["code=Code civil"]).day
    ''
    """

    index: Annotated[str, Field(**_INDEX)] = ""
    profile: Annotated[str, Field(**_PROFILE)] = ""
    filters: list[Condition] = Field([], max_length=50, description=_FILTER, examples=[["code=Code du travail"]])
    as_of: Annotated[Day | None, Field(**_AS_OF)] = None
    language: Annotated[str, Field(**_LANGUAGE)] = ""

    @property
    def day(self) -> str:
        """The day as the calls take it."""
        return day_text(self.as_of)


def day_text(day: datetime.date | None) -> str:
    """A day as the calls take it, an empty text for none.

    >>> day_text(datetime.date(2024, 1, 31)), day_text(None)
    ('2024-01-31', '')
    """
    return day.isoformat() if day else ""


def service_of(request: Request) -> ServiceContext:
    """The service that answers a request."""
    service: ServiceContext = request.app.state.service
    return service


def checked_question(service: ServiceContext, text: str) -> str:
    """A question that is not too long for one."""
    if len(text) > (most := service.settings.max_query_characters):
        reason = f"the question has {len(text):,} characters, {most:,} are allowed; post a whole document to /v1/similar"
        raise TooLargeError(reason)
    return text


def answered(value: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON, written once: FastAPI would look at every part of it again.

    >>> answered(QuestionParameters()).media_type
    'application/json'
    """
    return Response(value.model_dump_json(), status, headers, "application/json")


async def answered_by(
    service: ServiceContext, call: Callable[Parameters, BaseModel], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Response:
    """What a call gives, as JSON that is written on the thread of the call: a long answer delays no other request."""

    def written() -> tuple[BaseModel, str]:
        value = call(*args, **kwargs)
        return value, value.model_dump_json()

    value, text = await service.run(written)
    note_answer(value)
    return Response(text, media_type="application/json")


def handed_out(export: Export) -> Response:
    """A file, to be saved.

    >>> handed_out(Export("a", "text/plain", "a.txt")).headers["content-disposition"]
    'attachment; filename="a.txt"'
    """
    return Response(export.text, headers=export.headers, media_type=export.media_type)


def validated(kind: type[Body], given: bytes | Mapping[str, Any]) -> Body:
    """JSON, or the fields of a form, as a body of this kind; what is wrong is told as for any body.

    >>> validated(QuestionParameters, b'{"index": "law"}').index
    'law'
    """
    try:
        return kind.model_validate_json(given) if isinstance(given, bytes) else kind.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from None
