"""The root of all answers, and how they name a part of a text.

Spans count characters of the text that stands beside them, from 0, with the end left out.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Span = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]


class Value(BaseModel):
    """The root of all answers: frozen, and with no field that is not told.

    >>> Value().model_dump()
    {}
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
