"""Filters on metadata: conditions on fields that become one flag per document, applied inside every retriever.

Written as ``code=Code du travail``, ``kind=statute,decision`` (one of), ``date>=2020-01-01``, ``date<2021-01-01``,
``headings^=Partie législative > Livre II`` (begins with), ``court!=CJEU``. Several conditions must all hold.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import orjson

from lexfuse.data.arrays import Bools
from lexfuse.data.dates import parse_date
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.index.snapshot import Snapshot

DATES = ("date", "valid_from", "valid_to")
LISTS = ("headings", "identifiers", "citations")
FIELDS = ("id", "title", "language", "kind", "code", "number", "court", "status", *DATES, *LISTS)


class Operator(StrEnum):
    """How a field is compared.

    >>> Operator("^=")
    <Operator.BEGINS: '^='>
    """

    BEGINS = "^="
    NOT = "!="
    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"
    IS = "="


@dataclass(frozen=True, slots=True)
class Condition:
    """One field, one comparison, one or several values of which one must fit.

    >>> Condition.parse("kind=statute,decision").values
    ('statute', 'decision')
    """

    field: str
    operator: Operator
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse fields that are not there and dates that are none."""
        if self.field not in FIELDS:
            raise NotFoundError(f"there is no field {self.field!r} to filter by; there are {', '.join(FIELDS)}")
        if self.field in DATES and self.operator is not Operator.BEGINS:
            for value in self.values:
                _day(value)

    @classmethod
    def parse(cls, text: str) -> Condition:
        r"""A condition as it is written; commas stand between values of ``=`` and ``!=``, ``\,`` is a comma.

        >>> Condition.parse("date>=2020-01-01")
        Condition(field='date', operator=<Operator.AT_LEAST: '>='>, values=('2020-01-01',))
        """
        match = re.fullmatch(r"\s*(\w+)\s*(\^=|!=|>=|<=|=|>|<)\s*(.*?)\s*", text, re.DOTALL)
        if match is None:
            raise ConfigError(f"a filter is written field=value, field>=value or field^=beginning; got {text!r}")
        operator = Operator(match[2])
        many = operator in (Operator.IS, Operator.NOT) and match[1] not in ("title",)
        values = re.split(r"(?<!\\),", match[3]) if many else [match[3]]
        return cls(match[1], operator, tuple(value.strip().replace("\\,", ",") for value in values))

    def mask(self, snapshot: Snapshot) -> Bools:
        """Which documents of a snapshot fulfil the condition; a field a document lacks fulfils only ``!=``."""
        values = snapshot.ids.names if self.field == "id" else snapshot.column(self.field)
        if self.field in LISTS:
            return np.fromiter((self._list_fits(value) for value in values), dtype=np.bool_, count=len(values))
        if self.operator is Operator.BEGINS:
            begins = self.values
            return np.fromiter((bool(v) and str(v).startswith(begins) for v in values), dtype=np.bool_, count=len(values))
        column = np.array(["" if value is None else value for value in values], dtype=np.str_)
        wanted = [_day(value).isoformat() for value in self.values] if self.field in DATES else list(self.values)
        if self.operator in (Operator.IS, Operator.NOT):
            fits: Bools = np.isin(column, np.array(wanted, dtype=np.str_), invert=self.operator is Operator.NOT)
            return fits
        compared: Bools = _COMPARE[self.operator](column, wanted[0])
        return compared & (column != "")

    def _list_fits(self, stored: str | None) -> bool:
        values: list[str] = orjson.loads(stored) if stored else []
        if self.operator is Operator.BEGINS:
            path = [part.strip() for part in self.values[0].split(">")]
            above, last = values[: len(path) - 1], values[len(path) - 1 : len(path)]
            return [value.strip() for value in above] == path[:-1] and bool(last) and last[0].strip().startswith(path[-1])
        held = any(value in values for value in self.values)
        if self.operator is Operator.NOT:
            return not held
        if self.operator is Operator.IS:
            return held
        raise ConfigError(f"{self.field} is a list; filter it with =, != or ^=, not with {self.operator.value}")


_COMPARE: dict[Operator, Any] = {
    Operator.AT_LEAST: np.greater_equal,
    Operator.AT_MOST: np.less_equal,
    Operator.ABOVE: np.greater,
    Operator.BELOW: np.less,
}


def within(snapshot: Snapshot, conditions: Sequence[Condition] = (), *, as_of: datetime.date | None = None) -> Bools | None:
    """Which documents fulfil all conditions and are in force on a day; None when nothing is asked.

    In force on a day means valid_from <= day < valid_to, where an open side holds for ever; documents without
    any validity (judgments, say) are not affected.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = Index.create(f"{folder}/i")
    ...     _ = index.add([Document("a", code="Code civil"), Document("b", valid_to=datetime.date(2020, 1, 1))])
    ...     snapshot = index.snapshot()
    ...     within(snapshot, [Condition.parse("code=Code civil")]).tolist()
    ...     within(snapshot, as_of=datetime.date(2020, 1, 1)).tolist()
    [True, False]
    [True, False]
    """
    masks = [condition.mask(snapshot) for condition in conditions]
    if as_of is not None:
        day = as_of.isoformat()
        starts = np.array([value or "" for value in snapshot.column("valid_from")], dtype=np.str_)
        ends = np.array([value or "9999-12-31" for value in snapshot.column("valid_to")], dtype=np.str_)
        masks.append((starts <= day) & (ends > day))
    return np.logical_and.reduce(masks) if masks else None


def _day(value: str) -> datetime.date:
    try:
        day = parse_date(value)
    except DataError as error:
        raise ConfigError(f"a date was expected in a filter: {error}") from None
    if day is None:
        raise ConfigError(f"a known date was expected in a filter, got {value!r}")
    return day
