"""The parameters of requests, with their names and bounds: query strings, JSON bodies, forms, pages and MCP tools share them.

Every operation takes one of these models, so a parameter has one name and one set of bounds wherever it is given. Unknown names
are refused.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from lexfuse.data.validation import config_errors
from lexfuse.errors import TooLargeError, UnknownParameterError

if TYPE_CHECKING:
    from lexfuse.service.settings import ServiceSettings

Model = TypeVar("Model", bound=BaseModel)

INDEX: dict[str, Any] = {"max_length": 255, "description": "Index name; the first index by default.", "examples": ["fr-labour"]}
_FILTERS = "Conditions that must all hold: field=value, field=a,b, date>=2020-01-01, headings^=A > B, court!=X."
OPERATORS = 'Whether "phrases", -word, AND OR NOT, word*, /s /p /5 and field:word in the question are operators.'
SPELLING = "Misspelt words: auto offers a correction and searches by it if no word is known, apply always does, off never."
EVERYDAY = "Whether everyday words are also searched as the law writes them."
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_NAMED = 5  # unknown names that the error lists


def _iso_day(value: Any) -> Any:
    if isinstance(value, datetime.date) or (isinstance(value, str) and _DAY.fullmatch(value)):
        return value
    raise PydanticCustomError("day", "a day is written as 2024-01-31")


Day = Annotated[datetime.date, BeforeValidator(_iso_day)]  # ISO dates only; other texts and numbers are rejected
Condition = Annotated[str, Field(max_length=20_000)]  # the value of a facet, however long, can be selected
Question = Annotated[
    str,
    Field(min_length=1, description="The question, in any words; citations are recognised.", examples=["durée du préavis"]),
]


class RequestParameters(BaseModel):
    """Parameters with known names; a request with an unknown one is refused as a whole.

    The check comes first, as one error: a body of eight megabytes can have 600,000 unknown fields.

    >>> RequestParameters(colour="red")
    Traceback (most recent call last):
    ...
    lexfuse.errors.UnknownParameterError: there is no parameter 'colour'; there are none
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        if isinstance(given, dict):
            refuse_unknown(given, cls.model_fields)
        return given


class IndexParameters(RequestParameters):
    """The index that a request is about."""

    index: Annotated[str, Field(**INDEX)] = ""


class FilterParameters(IndexParameters):
    """Which documents a request may find, and the language of its question."""

    filters: list[Condition] = Field([], max_length=50, description=_FILTERS, examples=[["code=Code du travail"]])
    as_of: Day | None = Field(None, description="Only documents in force on this day.", examples=["2024-01-01"])
    language: str = Field(
        "", pattern="^([a-z]{2,3})?$", description="Language of the question; detected by default.", examples=["fr"]
    )


class QuestionParameters(FilterParameters):
    """The index, the profile and the filters of a question."""

    profile: str = Field(
        "", max_length=200, description="Profile to search with; that of the index by default.", examples=["hybrid"]
    )


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    """Raise `UnknownParameterError` if a name is not known.

    >>> refuse_unknown(["q", "k"], ["query", "k"])
    Traceback (most recent call last):
    ...
    lexfuse.errors.UnknownParameterError: there is no parameter 'q'; there are query, k
    """
    if unknown := [name for name in dict.fromkeys(given) if name not in known]:
        more = f" (and {len(unknown) - _NAMED:,} others)" if len(unknown) > _NAMED else ""
        names = ", ".join(repr(name[:80]) for name in unknown[:_NAMED])
        raise UnknownParameterError(f"there is no parameter {names}{more}; there are {', '.join(known) or 'none'}")


def validated(model: type[Model], given: bytes | Mapping[str, Any]) -> Model:
    """JSON, the fields of a form or the arguments of a tool as a model; errors are those of any other body.

    >>> validated(QuestionParameters, b'{"index": "law"}').index
    'law'
    """
    try:
        return model.model_validate_json(given) if isinstance(given, bytes) else model.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from None


def page_parameters(model: type[Model], given: Mapping[str, Any]) -> Model:
    """The values of a page as a model; `ConfigError` names what a reader has to change.

    >>> page_parameters(FilterParameters, {"as_of": "tomorrow"})
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: as_of: a day is written as 2024-01-31, got 'tomorrow'
    """
    with config_errors():
        return model.model_validate(given)


def check_length(given: object, settings: ServiceSettings) -> None:
    """Refuse a question or a text that is longer than the settings allow.

    >>> from types import SimpleNamespace
    >>> from lexfuse.service.settings import ServiceSettings
    >>> check_length(SimpleNamespace(query="divorce"), ServiceSettings(max_query_characters=3))
    Traceback (most recent call last):
    ...
    lexfuse.errors.TooLargeError: the query has 7 characters, 3 are allowed; for a whole document use similar (/v1/similar)
    """
    limits = (
        ("query", settings.max_query_characters, "for a whole document use similar (/v1/similar)"),
        ("text", settings.max_body_bytes, "send a part of it"),
    )
    for name, most, advice in limits:
        if (length := len(getattr(given, name, ""))) > most:
            raise TooLargeError(f"the {name} has {length:,} characters, {most:,} are allowed; {advice}")
