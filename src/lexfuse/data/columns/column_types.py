"""The type of a column of metadata: text, number or date, stated or inferred from all of its values.

A value keeps its type in JSON: a number is a number, a date is text in ISO form. So a type needs no place in an index: it
follows from the values, for old indexes too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from lexfuse.data.dates import parse_date
from lexfuse.errors import ConfigError, DataError

# Not 007, 1e5 or 12345678901234567890: a number must mean the same when it is written again.
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?")
_ISO_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


class ColumnType(StrEnum):
    """The type of a column's values."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"


def inferred_type(values: Iterable[Any]) -> ColumnType:
    """The type of values as they are stored in a document; `TEXT` unless all of them are numbers or ISO dates.

    >>> inferred_type([1, 2.5]), inferred_type(["2020-01-02"]), inferred_type(["2020-01-02", "soon"]), inferred_type(["1", "2"])
    (<ColumnType.NUMBER: 'number'>, <ColumnType.DATE: 'date'>, <ColumnType.TEXT: 'text'>, <ColumnType.TEXT: 'text'>)
    """
    kinds = {_type_of(value) for value in values}
    return kinds.pop() if len(kinds) == 1 else ColumnType.TEXT


def cell_type(cell: str, date_format: str = "") -> ColumnType:
    """The type that a cell of a table could have; a date is in ISO form or in the given one.

    >>> cell_type("12.5"), cell_type("007"), cell_type("2020-02-30")
    (<ColumnType.NUMBER: 'number'>, <ColumnType.TEXT: 'text'>, <ColumnType.TEXT: 'text'>)
    """
    if _NUMBER.fullmatch(cell):
        return ColumnType.NUMBER
    return ColumnType.DATE if is_iso_date(cell) or (date_format and _has_format(cell, date_format)) else ColumnType.TEXT


def typed(name: str, value: Any, kind: ColumnType, date_format: str = "") -> Any:
    """A value as its column's type; one that it cannot have is a `DataError`.

    >>> typed("fee", "12.50", ColumnType.NUMBER), typed("heard", "2/3/2010", ColumnType.DATE, "%d/%m/%Y")
    (12.5, '2010-03-02')
    """
    if value is None or value == "":
        return None
    if kind is ColumnType.TEXT:
        return value if isinstance(value, str) else str(value)
    if kind is ColumnType.NUMBER:
        return _number(name, value)
    day = iso_day(name, value, date_format)
    return day or None


def iso_day(name: str, value: Any, date_format: str = "") -> str:
    """A date in ISO form, by the given format or the known ones; ``""`` where it means that none is known.

    >>> iso_day("date", "3.2.2010", "%d.%m.%Y")
    '2010-02-03'
    >>> iso_day("date", "tomorrow", "%d.%m.%Y")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: column 'date': 'tomorrow' does not have the date format '%d.%m.%Y'
    """
    if date_format and isinstance(value, str) and not is_iso_date(value):
        if not _has_format(value, date_format):
            raise DataError(f"column {name!r}: {value[:60]!r} does not have the date format {date_format!r}")
        return datetime.strptime(value.strip(), date_format).date().isoformat()
    try:
        day = parse_date(value)
    except DataError as error:
        raise DataError(f"column {name!r}: {error.reason}") from None
    return "" if day is None else day.isoformat()


def check_date_format(date_format: str) -> None:
    """Refuse a format that does not state day, month and year.

    >>> check_date_format("%d/%m")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the date format '%d/%m' must state a day, a month and a year, such as %d/%m/%Y
    """
    try:
        complete = datetime.strptime(datetime(2031, 12, 30).strftime(date_format), date_format) == datetime(2031, 12, 30)
    except (ValueError, re.error):
        complete = False
    if not complete:
        raise ConfigError(f"the date format {date_format!r} must state a day, a month and a year, such as %d/%m/%Y")


def stated_types(stated: Iterable[str]) -> Mapping[str, ColumnType]:
    """Types written as ``NAME=number``.

    >>> stated_types(["fee=number"])
    {'fee': <ColumnType.NUMBER: 'number'>}
    """
    types = {}
    for text in stated:
        name, _, kind = text.rpartition("=")
        if not name or kind not in set(ColumnType):
            raise ConfigError(f"a type is written NAME=text, NAME=number or NAME=date; got {text!r}")
        types[name] = ColumnType(kind)
    return types


def is_iso_date(value: str) -> bool:
    """Whether a text is a day that exists, written 2020-01-31."""
    return _ISO_DATE.fullmatch(value) is not None and _has_format(value, "%Y-%m-%d")


def _has_format(value: str, date_format: str) -> bool:
    try:
        datetime.strptime(value.strip(), date_format)
    except ValueError:
        return False
    return True


def _type_of(value: Any) -> ColumnType:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ColumnType.NUMBER
    return ColumnType.DATE if isinstance(value, str) and is_iso_date(value) else ColumnType.TEXT


def _number(name: str, value: Any) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = str(value).strip()
    if not re.fullmatch(r"[+-]?\d{1,15}(?:\.\d{1,15})?", text):
        raise DataError(f"column {name!r}: {text[:60]!r} is not a number; write it as 1234.5")
    return float(text) if "." in text else int(text)
