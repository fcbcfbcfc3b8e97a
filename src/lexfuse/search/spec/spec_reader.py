"""The values of a TOML file as a profile: every key, type and name is checked, and an error lists what may stand there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from typing import Any, TypeVar

from lexfuse.errors import ConfigError
from lexfuse.fusion.registry import METHODS, FusionOptions
from lexfuse.fusion.union import Missing
from lexfuse.search.pipeline import DEPTH
from lexfuse.search.spec.pipeline_spec import SOURCES, ChannelSpec, FusionSpec, PipelineSpec, SourceChoice
from lexfuse.search.spec.reranker_specs import RERANKS, RerankChoice, RescoreSpec
from lexfuse.text.query_class import QueryClass

VERSION = 1
_PIPELINE = ("channel", "fusion", "rerank")
_KEYS = ("version", "name", "description", "depth", *_PIPELINE, "class", "evidence")
_FUSION = ("method", "weights", "alpha", "eta", "beta", "normalisers", "missing")

Choice = TypeVar("Choice", SourceChoice, RerankChoice)


def spec_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the `SearchSpec` that plain values describe.

    >>> spec_fields({"version": 1, "channel": [{"name": "bm25"}]})["general"].channels[0].name
    'bm25'
    >>> spec_fields({"version": 2})
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the profile has version 2, this LexFuse reads 1; use a newer LexFuse
    """
    version = values.get("version")
    if version is None:
        raise ConfigError(f"there is no version; write version = {VERSION} at the top")
    if type(version) is not int or version != VERSION:
        advice = "use a newer LexFuse" if type(version) is int and version > VERSION else f"write version = {VERSION}"
        raise ConfigError(f"the profile has version {version!r}, this LexFuse reads {VERSION}; {advice}")
    table = _CheckedTable(values, _KEYS)
    general = _pipeline(table, None)
    classes = {}
    for name, inside in table.table("class").items():
        if name not in set(QueryClass):
            raise ConfigError(f"there is no class of queries {name!r}; there are {', '.join(QueryClass)}")
        with _expected(f"class.{name}"):
            classes[QueryClass(name)] = _pipeline(_CheckedTable(inside, _PIPELINE), general)
    return {
        "general": general,
        "classes": classes,
        "name": table.text("name"),
        "description": table.text("description"),
        "depth": table.whole("depth", DEPTH),
        "evidence": table.table("evidence"),
    }


def _pipeline(table: _CheckedTable, general: PipelineSpec | None) -> PipelineSpec:
    """A pipeline; what a class does not say is as in general."""
    channels = _each(table, "channel", SOURCES, ChannelSpec.method)
    fusion = None
    if "fusion" in table.values:
        with _expected("fusion"):
            fusion = _fusion(_CheckedTable(table.table("fusion"), _FUSION))
    elif general and not channels:
        fusion = general.fusion
    reranks = _each(table, "rerank", RERANKS, RescoreSpec.method)
    if general and "rerank" not in table.values:
        reranks = general.reranks
    return PipelineSpec(channels or (general.channels if general else ()), fusion, reranks)


def _choice(values: Any, kinds: Mapping[str, type[Choice]], usual: str) -> Choice:
    """A channel or a reranker: what may stand in its table depends on the method."""
    method: Any = values.get("method", usual) if isinstance(values, Mapping) else usual
    if not isinstance(method, str) or method not in kinds:
        raise ConfigError(f"method must be one of {', '.join(kinds)}; got {method!r}")
    kind = kinds[method]
    options: dict[str, list[str]] = {name: [one.name for one in fields(each)] for name, each in kinds.items()}
    table = _CheckedTable(values, ["method", *options[method]], options)
    given = {one.name: _field(table, one) for one in fields(kind) if one.name in table.values}
    for needed in (one.name for one in fields(kind) if one.default is MISSING and one.name not in given):
        given[needed] = table.text(needed, needed=True)
    return kind(**given)


def _field(table: _CheckedTable, field: Field[Any]) -> Any:
    """A value of the type that the usual one has; None is that of numbers and flags, and without a usual one it is a text."""
    key, usual = field.name, field.default
    if isinstance(usual, bool) or field.type == "bool | None":
        return table.flag(key)
    if isinstance(usual, int):
        return table.whole(key, usual)
    if isinstance(usual, float) or usual is None:
        return table.number(key)
    if isinstance(usual, tuple):
        return table.numbers(key)
    if isinstance(usual, StrEnum):
        return type(usual)(table.text(key, needed=True, valid=tuple(type(usual))))
    return table.text(key, needed=usual is MISSING)


def _fusion(table: _CheckedTable) -> FusionSpec:
    method = table.text("method", needed=True, valid=tuple(METHODS))
    missing = table.text("missing", valid=tuple(Missing))
    options = FusionOptions(
        table.numbers("weights"),
        table.number("alpha"),
        table.numbers("eta"),
        table.number("beta"),
        table.texts("normalisers"),
        Missing(missing) if missing else None,
    )
    return FusionSpec(method, options)


def _each(table: _CheckedTable, key: str, kinds: Mapping[str, type[Choice]], usual: str) -> tuple[Choice, ...]:
    """What the tables of a list describe, one by one; what is wrong in one is told with its number."""
    found = []
    for number, one in enumerate(table.tables(key), start=1):
        with _expected(f"{key} {number}"):
            found.append(_choice(one, kinds, usual))
    return tuple(found)


@contextmanager
def _expected(where: str) -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


class _CheckedTable:
    """The values of one table, read by key and type."""

    def __init__(self, values: Any, keys: Sequence[str], elsewhere: Mapping[str, Sequence[str]] | None = None) -> None:
        if not isinstance(values, Mapping):
            raise ConfigError(f"a table was expected, got {values!r}; it has the keys {', '.join(keys)}")
        for key in values:
            if key not in keys:
                others = [method for method, known in (elsewhere or {}).items() if key in known]
                hint = f"; {key} is for method = {' or '.join(others)}" if others else ""
                raise ConfigError(f"there is no {key!r}; there are {', '.join(keys)}{hint}")
        self.values = values

    def text(self, key: str, *, needed: bool = False, valid: tuple[str, ...] = ()) -> str:
        value = self.values.get(key, "")
        if not isinstance(value, str) or (needed and not value):
            expected = f"one of {', '.join(valid)}" if valid else "a text"
            raise ConfigError(
                f"{key} must be {expected}, got {value!r}" if key in self.values else f"{key} is missing: {expected}"
            )
        if value and valid and value not in valid:
            raise ConfigError(f"{key} must be one of {', '.join(valid)}; got {value!r}")
        return value

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{key} must be a number, got {value!r}")
        return float(value)

    def whole(self, key: str, usual: int) -> int:
        value = self.values.get(key, usual)
        if type(value) is not int:
            raise ConfigError(f"{key} must be a whole number, got {value!r}")
        return value

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise ConfigError(f"{key} must be true or false, got {value!r}")
        return value

    def numbers(self, key: str) -> tuple[float, ...]:
        found = self._list(key)
        if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
            raise ConfigError(f"{key} must be a number or a list of numbers, got {self.values[key]!r}")
        return tuple(map(float, found))

    def texts(self, key: str) -> tuple[str, ...]:
        found = self._list(key)
        if not all(isinstance(value, str) for value in found):
            raise ConfigError(f"{key} must be a text or a list of texts, got {self.values[key]!r}")
        return tuple(found)

    def table(self, key: str) -> Mapping[str, Any]:
        value = self.values.get(key, {})
        if not isinstance(value, Mapping):
            raise ConfigError(f"{key} must be a table, [{key}], got {value!r}")
        return value

    def tables(self, key: str) -> list[Any]:
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise ConfigError(f"{key} must be a list of tables, [[{key}]], got {value!r}")
        return value

    def _list(self, key: str) -> list[Any]:
        value = self.values.get(key, [])
        return value if isinstance(value, list) else [value]
