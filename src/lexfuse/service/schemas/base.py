"""The root of all answers, and how they name a part of a text.

Spans count characters of the text that stands beside them, from 0, with the end left out.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Span = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]


class ResponseModel(BaseModel):
    """The root of all answers: frozen, and with no field that is not told.

    >>> ResponseModel().model_dump()
    {}
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


_EXAMPLE = ">>>"


def without_examples(schema: Any) -> Any:
    r"""A JSON schema, or a whole OpenAPI document, whose descriptions end before the examples of our docstrings.

    >>> without_examples({"$defs": {"A": {"description": "A card.\n\n>>> Card()\n"}}})
    {'$defs': {'A': {'description': 'A card.'}}}
    """
    if isinstance(schema, dict):
        return {name: _text(value) if name == "description" else without_examples(value) for name, value in schema.items()}
    return [without_examples(one) for one in schema] if isinstance(schema, list) else schema


def _text(value: Any) -> Any:
    """A description; what has that name and is no text is a property that is called so."""
    return value.partition(_EXAMPLE)[0].rstrip() if isinstance(value, str) else without_examples(value)


_WRITTEN = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _written(value: Any) -> Any:
    """What may be a day; what is none is told as the words of the error."""
    if isinstance(value, datetime.date) or (isinstance(value, str) and _WRITTEN.fullmatch(value)):
        return value
    raise ValueError("a day is written as 2024-01-31")


Day = Annotated[datetime.date, BeforeValidator(_written)]
