"""Parameters that several endpoints share, with their bounds, and the responses of endpoints.

GET, POST and the tools of the Model Context Protocol take the same models, so a parameter has one name and one set of bounds.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from lexfuse.errors import ConfigError, TooLargeError
from lexfuse.service.context import ServiceContext
from lexfuse.service.middleware.request_log import note_answer
from lexfuse.service.openapi import query_parameters
from lexfuse.service.operations.export import Export
from lexfuse.service.schemas.base import Day
from lexfuse.service.schemas.request_parameters import RequestParameters, refuse_unknown
from lexfuse.service.settings import ServiceSettings

Model = TypeVar("Model", bound=BaseModel)
Parameters = ParamSpec("Parameters")

_INDEX: dict[str, Any] = {"max_length": 100, "description": "Index name; the first index by default.", "examples": ["fr-labour"]}
_FILTERS = "Conditions that must all hold: field=value, field=a,b, date>=2020-01-01, headings^=A > B, court!=X."

Condition = Annotated[str, Field(max_length=1000)]
Question = Annotated[
    str,
    Field(min_length=1, description="The question, in any words; citations are recognised.", examples=["durée du préavis"]),
]
IndexName = Annotated[str, Query(**_INDEX)]
DocumentName = Annotated[str, Path(min_length=1, max_length=2000, description="Document id.", examples=["LEGIARTI000006901112"])]


class IndexParameters(RequestParameters):
    """The index that a request is about."""

    index: Annotated[str, Field(**_INDEX)] = ""


class FilterParameters(IndexParameters):
    """Which documents a request may find, and the language of its question."""

    filters: list[Condition] = Field([], max_length=50, description=_FILTERS, examples=[["code=Code du travail"]])
    as_of: Day | None = Field(None, description="Only documents in force on this day.", examples=["2024-01-01"])
    language: str = Field(
        "", pattern="^([a-z]{2,3})?$", description="Language of the question; detected by default.", examples=["fr"]
    )

    @property
    def day(self) -> str:
        """The day as operations take it.

        >>> FilterParameters(as_of="2024-01-31").day
        '2024-01-31'
        """
        return day_text(self.as_of)


class QuestionParameters(FilterParameters):
    """The index, the profile and the filters of a question."""

    profile: str = Field(
        "", max_length=200, description="Profile to search with; that of the index by default.", examples=["hybrid"]
    )


def day_text(day: datetime.date | None) -> str:
    """A day as operations take it, or an empty text.

    >>> day_text(datetime.date(2024, 1, 31)), day_text(None)
    ('2024-01-31', '')
    """
    return day.isoformat() if day else ""


async def check_query_string(request: Request) -> None:
    """Refuse query strings with parameters that the OpenAPI document does not list, or with repeated single values."""
    known = query_parameters(request.app.openapi(), request.scope["route"].path_format, request.method)
    refuse_unknown(request.query_params, known)
    for name, is_list in known.items():
        if not is_list and (count := len(request.query_params.getlist(name))) > 1:
            raise ConfigError(f"{name} is given {count} times; give it once")


def service_of(request: Request) -> ServiceContext:
    """The service that answers a request."""
    service: ServiceContext = request.app.state.service
    return service


def check_question(settings: ServiceSettings, question: str) -> str:
    """The question, if it is short enough.

    >>> check_question(ServiceSettings(max_query_characters=3), "divorce")
    Traceback (most recent call last):
    ...
    lexfuse.errors.TooLargeError: the query has 7 characters, 3 are allowed; for a whole document use similar (/v1/similar)
    """
    if len(question) > (most := settings.max_query_characters):
        reason = f"the query has {len(question):,} characters, {most:,} are allowed"
        raise TooLargeError(f"{reason}; for a whole document use similar (/v1/similar)")
    return question


def answered(value: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as a JSON response; unlike FastAPI, it does not validate the value again."""
    return Response(value.model_dump_json(), status, headers, "application/json")


async def answered_by(
    service: ServiceContext, call: Callable[Parameters, BaseModel], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Response:
    """The result of a call as a JSON response, serialised on the thread of the call so that it delays no other request."""

    def written() -> tuple[BaseModel, str]:
        value = call(*args, **kwargs)
        return value, value.model_dump_json()

    value, text = await service.run(written)
    note_answer(value)
    return Response(text, media_type="application/json")


def download(export: Export) -> Response:
    """A file that the browser saves. Its name is fixed, so it contains nothing of a question.

    >>> download(Export("a", "text/plain", "a.txt")).headers["content-disposition"]
    'attachment; filename="a.txt"'
    """
    return Response(export.text.encode("utf-8", "replace"), headers=export.headers, media_type=export.media_type)


def validated(model: type[Model], given: bytes | Mapping[str, Any]) -> Model:
    """JSON, or the fields of a form, as a model; errors are those of any other body.

    >>> validated(QuestionParameters, b'{"index": "law"}').index
    'law'
    """
    try:
        return model.model_validate_json(given) if isinstance(given, bytes) else model.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from None
