"""Write plain values as TOML; `tomllib` reads back the same values in the same order."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from lexfuse.errors import DataError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(values: Mapping[str, Any]) -> str:
    r"""TOML text of strings, numbers, booleans, lists of these, tables, and lists of tables.

    >>> print(to_toml({"version": 1, "channel": [{"name": "bm25", "k1": 0.9}], "class": {"citation": {"rerank": []}}}))
    version = 1
    <BLANKLINE>
    [[channel]]
    name = "bm25"
    k1 = 0.9
    <BLANKLINE>
    [class.citation]
    rerank = []
    <BLANKLINE>
    """
    return "\n".join(_lines(values, ())) + "\n"


def _lines(values: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """The lines of a table: plain values first, as TOML requires, then the inner tables."""
    lines = [f"{_key(name)} = {_value(value, name)}" for name, value in values.items() if not _tables(value)]
    for name, value in values.items():
        inside = (*path, name)
        head = ".".join(map(_key, inside))
        if isinstance(value, Mapping):
            plain = not value or any(not _tables(one) for one in value.values())
            lines += [*(["", f"[{head}]"] if plain else []), *_lines(value, inside)]
        elif _tables(value):
            for one in value:
                lines += ["", f"[[{head}]]", *_lines(one, inside)]
    return lines


def _tables(value: Any) -> bool:
    """Whether a value is a table, or a list of tables."""
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and bool(value) and isinstance(value[0], Mapping))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(float(value))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(one, name) for one in value)}]"
    raise DataError(f"{name} = {value!r} cannot be written as TOML; give text, a finite number, a boolean or a list of them")


def _text(text: str) -> str:
    """A quoted string; TOML escapes like JSON, and also the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
