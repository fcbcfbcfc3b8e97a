"""JSON values to bytes and back: strict, compact, and never a silent change of a value."""

from __future__ import annotations

import math
from typing import Any

import orjson

from lexfuse.errors import DataError


def to_json(value: Any, what: str) -> bytes:
    r"""Compact UTF-8 JSON; what JSON cannot hold exactly is a `DataError` that says of what it is part.

    >>> to_json({"é": [1, None]}, "document 'a'")
    b'{"\xc3\xa9":[1,null]}'
    >>> to_json(float("nan"), "document 'a'")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: document 'a': nan is not a JSON number; give a finite number or null
    """
    _refuse_not_finite(value, what)
    try:
        return orjson.dumps(value)
    except TypeError as error:  # a lone surrogate, a number of more than 64 bits, an object of another type
        raise DataError(f"{what} cannot be written as JSON: {error}") from None


def from_json(raw: bytes | str) -> Any:
    """The value of a JSON text; `DataError` with the reason where it is not one.

    >>> from_json(b'{"a": 1}')
    {'a': 1}
    >>> from_json(b"{a")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: not valid JSON: unexpected ... at character 2
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise DataError(f"not valid JSON: {error.msg} at character {error.pos + 1}") from None


def _refuse_not_finite(value: Any, what: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"{what}: {value} is not a JSON number; give a finite number or null")
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            if not isinstance(item, str):
                _refuse_not_finite(item, what)
