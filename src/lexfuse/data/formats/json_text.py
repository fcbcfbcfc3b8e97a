"""JSON values to bytes and back: strict, compact, without silent changes of a value."""

from __future__ import annotations

import math
from typing import Any

import orjson

from lexfuse.errors import DataError

DEEPEST = 100  # levels of lists and objects; deeper values could be read, but not compared or written


def to_json(value: Any, what: str) -> bytes:
    r"""Compact UTF-8 JSON; a value that JSON cannot represent exactly is a `DataError` about ``what``.

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
    except TypeError as error:  # a lone surrogate, an integer of more than 64 bits, an unknown type
        raise DataError(f"{what} cannot be written as JSON: {error}") from None


def from_json(raw: bytes | str) -> Any:
    """Parse a JSON text; invalid JSON is a `DataError` with the reason.

    >>> from_json(b'{"a": 1}')
    {'a': 1}
    >>> from_json(b"{a")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: not valid JSON: unexpected ... at character 2
    >>> from_json(b"[" * 101 + b"]" * 101)
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: lists and objects are nested more than 100 levels deep; flatten them
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise DataError(f"not valid JSON: {error.msg} at character {error.pos + 1}") from None
    opened = raw.count("[") + raw.count("{") if isinstance(raw, str) else raw.count(b"[") + raw.count(b"{")
    if opened > DEEPEST and _is_deep(value):
        raise DataError(f"lists and objects are nested more than {DEEPEST} levels deep; flatten them")
    return value


def _is_deep(value: Any) -> bool:
    """Whether a value has more than `DEEPEST` levels; checked level by level, since recursion would overflow."""
    level = [value]
    for _ in range(DEEPEST):
        nested = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, list | dict)]
        level = [item for part in nested for item in part]
        if not level:
            return False
    return any(isinstance(part, list | dict) for part in level)


def _refuse_not_finite(value: Any, what: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"{what}: {value} is not a JSON number; give a finite number or null")
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            if not isinstance(item, str):
                _refuse_not_finite(item, what)
