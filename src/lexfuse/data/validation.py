"""Plain values (TOML, JSON, keyword arguments) as typed values: the base of their models, and errors that say where.

A `Model` is frozen, knows its keys and refuses others. Whatever pydantic refuses becomes a `ConfigError` (or the error that a
check raised) whose message starts with the table: ``channel 2: k1 must be a number, got 'high'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Any, NoReturn, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from lexfuse.errors import ConfigError, LexFuseError

Checked = TypeVar("Checked")
_REFUSED, _EXPECTED = "refused", "expected"  # types of errors: a sentence about a table, and what a key should have held
_WORDS = {
    "string_type": "a text",
    "string_too_short": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
}
_LIMITS = {
    "greater_than": "above {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "below {lt:g}",
    "less_than_equal": "at most {le:g}",
}


class Model(BaseModel):
    """A frozen value with typed fields that refuses unknown keys and lists those it has.

    >>> class Window(Model):
    ...     size: int = 200
    >>> Window(size="big")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: size must be a whole number, got 'big'
    >>> Window(width=3)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: there is no 'width'; there are size
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, serialize_by_alias=True)

    def __init__(self, **values: Any) -> None:
        """Check the values; what cannot be is a `ConfigError`."""
        keys = dict(zip(type(self).model_fields, self.table_keys(), strict=True))
        with config_errors():
            super().__init__(**{keys.get(name, name): value for name, value in values.items()})

    # Without this, pydantic would call `__init__` for tables inside of others, and their position would not be known.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def table_keys(cls) -> list[str]:
        """The keys of its table, in their order: the names of its fields, or their aliases."""
        return [str(field.validation_alias or name) for name, field in cls.model_fields.items()]

    @classmethod
    def keys_for(cls, values: Mapping[str, Any]) -> list[str]:
        """The keys that a table with these values may have."""
        return cls.table_keys()

    @classmethod
    def owners(cls, key: str) -> str:
        """Tables that have a key which this one lacks, for the hint of an error."""
        return ""

    def replace(self, **changes: Any) -> Self:
        """The same with other values in some fields, checked like a new one."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | changes)

    def check(self) -> None:
        """Refuse values that do not fit together; a `LexFuseError` that it raises is reported with its place."""

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, values: Any) -> Any:
        if not isinstance(values, cls):
            check_keys(values, cls)
        return values

    @model_validator(mode="after")
    def _checked(self) -> Self:
        with refusals():
            self.check()
        return self


def check_keys(values: Any, model: type[Model], others: Mapping[str, type[Model]] | None = None) -> None:
    """Refuse what is not a table, a key that a model does not have, and one that it lacks; `others` may have it, by method."""
    if not isinstance(values, Mapping):
        refuse(f"a table was expected, got {values!r}; it has the keys {', '.join(model.keys_for({}))}")
    keys = model.keys_for(values)
    for key in values:
        if key not in keys:
            methods = [method for method, other in (others or {}).items() if other is not model and key in other.keys_for({})]
            owners = f"method = {' or '.join(methods)}" if methods else model.owners(key)
            refuse(f"there is no {key!r}; there are {', '.join(keys)}" + (f"; {key} is for {owners}" if owners else ""))
    for key, field in zip(model.table_keys(), model.model_fields.values(), strict=True):
        if field.is_required() and key not in values:
            refuse(f"{key} is missing" + (f": {field.description}" if field.description else ""))


def by_method(models: Sequence[type[Model]]) -> Callable[[Any], Any]:
    """A validator for tables of several models: the key ``method`` chooses one; the first is the default."""
    kinds: dict[str, type[Model]] = {model.model_fields["method"].default: model for model in models}
    usual = next(iter(kinds))

    def chosen(values: Any) -> Any:
        if isinstance(values, Model):
            return values
        method = values.get("method", usual) if isinstance(values, Mapping) else usual
        if not isinstance(method, str) or method not in kinds:
            refuse(f"method must be one of {', '.join(kinds)}; got {method!r}")
        check_keys(values, kinds[method], kinds)
        return {"method": method, **values}

    return chosen


def validated(adapter: TypeAdapter[Checked], values: Any) -> Checked:
    """Plain values as a type; what they cannot be is a `ConfigError`.

    >>> validated(TypeAdapter(Numbers), "high")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a number or a list of numbers was expected, got 'high'
    """
    with config_errors():
        return adapter.validate_python(values)


@contextmanager
def config_errors() -> Iterator[None]:
    """Turn a `ValidationError` into a `ConfigError`, or into the error that a check raised, with its place."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        cause = first.get("ctx", {}).get("cause")
        kind = type(cause) if isinstance(cause, LexFuseError) else ConfigError
        raise kind(_words(first)) from None


@contextmanager
def refusals() -> Iterator[None]:
    """Turn an error that a check raises into one that pydantic reports with the place of the table."""
    try:
        yield
    except LexFuseError as error:
        raise PydanticCustomError(_REFUSED, "{words}", {"words": str(error), "cause": error}) from None


def refusing(function: Callable[[Any], Checked]) -> Callable[[Any], Checked]:
    """A function as a validator whose errors are reported with the place of the value."""

    def validator(value: Any) -> Checked:
        with refusals():
            return function(value)

    return validator


def refuse(words: str) -> NoReturn:
    """Refuse a table, inside a validator."""
    raise PydanticCustomError(_REFUSED, "{words}", {"words": words})


def expect(words: str) -> NoReturn:
    """Refuse the value of a key, inside a validator; the words say what it must be."""
    raise PydanticCustomError(_EXPECTED, "{words}", {"words": words})


def _numbers(value: Any) -> float | tuple[float, ...]:
    each = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in each):
        expect("a number or a list of numbers")
    return tuple(map(float, each)) if each is value else float(value)


def _texts(value: Any) -> tuple[str, ...]:
    each = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(one, str) for one in each):
        expect("a text or a list of texts")
    return tuple(each)


def _tables(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        expect("a list of tables")
    return tuple(value)


Numbers = Annotated[float | tuple[float, ...], BeforeValidator(_numbers)]  # one for all, or one each
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Tables = BeforeValidator(_tables)  # of a tuple of models


def _words(error: ErrorDetails) -> str:
    """One sentence of an error: where, what, and what was expected.

    After the number of a table pydantic names the method that chose its model, which the sentence leaves out.
    """
    kind, given = error["type"], error["input"]
    place = [part for before, part in pairwise(("", *error["loc"])) if not (isinstance(before, int) and isinstance(part, str))]
    where = _where(place)
    if kind == _REFUSED:
        return f"{where}: {error['msg']}" if where else error["msg"]
    expected = error["msg"] if kind == _EXPECTED else _WORDS.get(kind)
    if kind in _LIMITS:
        expected = _LIMITS[kind].format(**error["ctx"])
    if kind in ("enum", "literal_error"):
        expected = f"one of {error['ctx']['expected'].replace(' or ', ', ').replace(chr(39), '')}"
    key, table = (str(place[-1]), _where(place[:-1])) if place else ("", "")
    head = f"{table}: " if table else ""
    if expected is None:
        return f"{head}{key}: {error['msg']}, got {given!r}" if key else error["msg"]
    if not key:
        return f"{expected} was expected, got {given!r}"
    if expected == "a list of tables":
        expected = f"a list of tables, [[{key}]]"
    elif expected == "a table":
        expected = f"a table, [{key}]"
    return f"{head}{key} must be {expected}{';' if expected.startswith('one of') else ','} got {given!r}"


def _where(place: Sequence[int | str]) -> str:
    """A position in words: ``class.question: channel 2``."""
    parts: list[str] = []
    for part in place:
        if isinstance(part, int) and parts:
            parts[-1] += f" {part + 1}"
        elif parts and parts[-1] == "class":
            parts[-1] += f".{part}"
        else:
            parts.append(str(part))
    return ": ".join(parts)
