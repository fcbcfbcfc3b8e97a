"""The root of all responses, and the types that they share.

A span is a range of characters of the text next to it: it starts at 0 and excludes its end.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Span = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]


class ResponseModel(BaseModel):
    """The root of all responses: frozen, without unknown fields. Their docstrings are descriptions in the OpenAPI document."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_WRITTEN = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _written(value: Any) -> Any:
    """ISO dates only; other texts and numbers are rejected."""
    if isinstance(value, datetime.date) or (isinstance(value, str) and _WRITTEN.fullmatch(value)):
        return value
    raise ValueError("a day is written as 2024-01-31")


Day = Annotated[datetime.date, BeforeValidator(_written)]
