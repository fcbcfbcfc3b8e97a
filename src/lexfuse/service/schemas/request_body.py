"""The body of a request: its fields are known, and there are few of them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

MOST_FIELDS = 100


class RequestBody(BaseModel):
    """A body that is refused as a whole where it has far more fields than there are: each would be an error of its own.

    Eight megabytes hold 600,000 wrong fields, and to write down as many errors would keep everybody else waiting.

    >>> RequestBody.model_validate({f"field {number}": 1 for number in range(101)})
    Traceback (most recent call last):
    ...
    pydantic_core._pydantic_core.ValidationError: 1 validation error for RequestBody
      Value error, the body has 101 fields, at most 100 are read ...
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > MOST_FIELDS:
            raise ValueError(f"the body has {len(given):,} fields, at most {MOST_FIELDS} are read")
        return given
