"""Flags that several commands share, as one value; and flags that hold several values, with commas between.

A command takes a parameter annotated with a subclass of `FlagGroup`: a frozen dataclass whose fields are
``Annotated[type, typer.Option(...)]``, or other groups. `expand_flags` turns each field into a flag of the command, and hands the
values over as one object, which also knows which of its flags the user has given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Self, get_type_hints

import typer

from lexfuse.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class FlagGroup:
    """Flags of a command; `given` names those on the command line, groups inside it included."""

    given: tuple[str, ...] = ()

    @classmethod
    def parameters(cls) -> Iterator[Parameter]:
        """The flags as parameters of a function, in their order."""
        hints = get_type_hints(cls, include_extras=True)
        for field in fields(cls):
            if _is_group(hints[field.name]):
                yield from hints[field.name].parameters()
            elif field.name != "given":
                default = Parameter.empty if field.default is MISSING else field.default
                yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])

    @classmethod
    def of(cls, values: dict[str, Any], given: set[str]) -> Self:
        """The group from the values of all flags of a command."""
        hints = get_type_hints(cls)
        own = {
            field.name: hints[field.name].of(values, given) if _is_group(hints[field.name]) else values[field.name]
            for field in fields(cls)
            if field.name != "given"
        }
        return cls(**own, given=tuple(each.name for each in cls.parameters() if each.name in given))


def expand_flags(command: Callable[..., None]) -> Callable[..., None]:
    """The command with one parameter for each flag of its groups.

    >>> from lexfuse.cli.options.search_flags import FilterFlags
    >>> def count(query: str, which: FilterFlags) -> None: ...
    >>> list(signature(expand_flags(count)).parameters)
    ['context', 'query', 'filters', 'as_of']
    """
    declared = signature(command, eval_str=True).parameters
    groups = {name: each.annotation for name, each in declared.items() if _is_group(each.annotation)}
    if not groups:
        return command

    @wraps(command)
    def expanded(context: typer.Context, **values: Any) -> None:
        sources = {name: context.get_parameter_source(name) for name in values}
        given = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
        others = {name: value for name, value in values.items() if name in declared and name not in groups}
        command(**others, **{name: group.of(values, given) for name, group in groups.items()})

    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name, each in declared.items():
        parameters += groups[name].parameters() if name in groups else [each.replace(kind=Parameter.KEYWORD_ONLY)]
    expanded.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {each.name: each.annotation for each in parameters}
    return expanded


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, FlagGroup)


def names_in(text: str) -> list[str]:
    """The names in a value, each once.

    >>> names_in("bm25, dense,bm25")
    ['bm25', 'dense']
    """
    return list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def numbers_in(text: str, flag: str) -> list[float]:
    """The numbers in a value; none if it is empty."""
    try:
        return [float(part) for part in text.split(",")] if text else []
    except ValueError:
        raise ConfigError(f"{flag} takes numbers with commas between, got {text!r}") from None


def whole_numbers_in(text: str, flag: str) -> list[int]:
    """The whole numbers in a value; none if it is empty."""
    numbers = numbers_in(text, flag)
    if any(number != int(number) for number in numbers):
        raise ConfigError(f"{flag} takes whole numbers with commas between, got {text!r}")
    return [int(number) for number in numbers]
