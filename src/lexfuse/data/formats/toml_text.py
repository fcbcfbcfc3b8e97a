"""Plain values as TOML, which reads back as the same values in the same order; files of settings, whose errors name them."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from lexfuse.data.files import decode, read_bytes
from lexfuse.errors import ConfigError, DataError, place

Parsed = TypeVar("Parsed")
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


def toml_values(text: str) -> dict[str, Any]:
    """The values of a TOML text; `DataError` for one that is not valid.

    >>> toml_values("depth = ")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: not valid TOML: Invalid value (at end of document)
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"not valid TOML: {error}") from None


def read_settings(path: str | Path, parse: Callable[[str], Parsed]) -> Parsed:
    """What a function makes of the text of a file; its errors name the file.

    >>> _ = (folder / "mine.toml").write_text("depth = ")
    >>> read_settings(folder / "mine.toml", toml_values)
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: ...mine.toml: not valid TOML: Invalid value (at end of document)
    """
    text = decode(read_bytes(path), path=path)
    try:
        return parse(text)
    except ConfigError as error:
        raise ConfigError(f"{place(path, None)}{error}") from None
    except DataError as error:
        raise DataError(error.reason, path=path) from None


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
