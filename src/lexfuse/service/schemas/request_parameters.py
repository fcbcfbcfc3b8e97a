"""The root of all parameters of a request: query strings, JSON bodies, forms and tool arguments. Unknown names are refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from lexfuse.errors import UnknownParameterError

_NAMED = 5  # unknown names that the error lists


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
