"""Filters on metadata: conditions on fields that become one flag per document, applied inside every retriever.

Written as ``code=Code du travail``, ``kind=statute,decision`` (one of), ``date>=2020-01-01``, ``date<2021-01-01``,
``headings^=Partie législative > Livre II`` (begins with), ``headings^=Partie législative > Livre II >`` (all below exactly this
heading), ``court!=CJEU``. Several conditions must all hold.

A field that documents do not have is one of the index's metadata, which has the type of its values: ``fee>=100`` and
``heard<2020-01-01`` compare numbers and dates.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

import numpy as np

from lexfuse.data.arrays import Bools
from lexfuse.data.columns.column_types import ColumnType
from lexfuse.data.dates import parse_date
from lexfuse.data.read_report import listed
from lexfuse.deadline import check
from lexfuse.errors import ConfigError, DataError, UnknownFieldError
from lexfuse.storage.document_rows import DATES, LISTS, WORDS, texts_of
from lexfuse.storage.snapshot import Snapshot

FIELDS = ("id", *WORDS, *DATES, *LISTS)


class Operator(StrEnum):
    """How a field is compared."""

    BEGINS = "^="
    NOT = "!="
    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"
    IS = "="


_COMPARE: dict[Operator, Callable[[str, str], bool]] = {
    Operator.AT_LEAST: operator.ge,
    Operator.AT_MOST: operator.le,
    Operator.ABOVE: operator.gt,
    Operator.BELOW: operator.lt,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One field, one comparison, and one or more values of which one must match.

    >>> Condition.parse("kind=statute,decision").values
    ('statute', 'decision')
    """

    field: str
    operator: Operator
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse comparisons that a field does not support, and invalid dates; metadata is checked against an index."""
        if self.field in LISTS and self.operator in _COMPARE:
            raise ConfigError(f"{self.field} is a list; filter it with =, != or ^=, not with {self.operator.value}")
        if not self.values or (self.operator in _COMPARE and len(self.values) > 1):
            wanted = "one value" if self.operator in _COMPARE else "at least one value"
            raise ConfigError(f"{self.field}{self.operator.value} compares with {wanted}, got {len(self.values)}")
        if self.field in DATES and self.operator is not Operator.BEGINS:
            object.__setattr__(self, "values", tuple(map(_day, self.values)))

    @classmethod
    def parse(cls, text: str) -> Condition:
        r"""Parse a condition; commas separate values of ``=`` and ``!=``, ``\,`` is a comma.

        >>> Condition.parse("date>=2020-01-01")
        Condition(field='date', operator=<Operator.AT_LEAST: '>='>, values=('2020-01-01',))
        >>> Condition.parse(r"title=Loi\, décret,Arrêté").values
        ('Loi, décret', 'Arrêté')
        """
        match = re.fullmatch(r"(\w[\w ./-]{0,99}?)\s*(\^=|!=|>=|<=|=|>|<)\s*+(.*)", text.strip(), re.DOTALL)
        if match is None:
            raise ConfigError(f"a filter is written field=value, field>=value or field^=beginning; got {text!r}")
        compared = Operator(match[2])
        if compared not in (Operator.IS, Operator.NOT):
            return cls(match[1], compared, (match[3],))
        values = re.split(r"(?<!\\),", match[3])
        return cls(match[1], compared, tuple(value.strip().replace("\\,", ",") for value in values))

    def mask(self, snapshot: Snapshot) -> Bools:
        """Which documents of a snapshot match; a missing field matches only ``!=`` and ``field=``."""
        check()
        if self.field not in FIELDS:
            return self._metadata_mask(snapshot)
        fits = self._list_test() if self.field in LISTS else self._test()
        if self.field == "id":
            return np.fromiter(map(fits, snapshot.ids), dtype=np.bool_, count=len(snapshot))
        codes, values = snapshot.coded(self.field)
        return np.array([fits(value) for value in values], dtype=np.bool_)[codes]

    def _metadata_mask(self, snapshot: Snapshot) -> Bools:
        """The same for metadata, whose values have a type; of several values of a document, one must match."""
        column = snapshot.metadata.get(self.field)
        if column is None:
            own = f"; its metadata: {listed(list(snapshot.metadata))}" if snapshot.metadata else ""
            raise UnknownFieldError(f"there is no field {self.field!r} to filter by; there are {', '.join(FIELDS)}{own}")
        if self.operator is Operator.BEGINS:
            if column.type is ColumnType.NUMBER:
                raise ConfigError(f"{self.field} is a number; filter it with =, !=, >=, <=, > or <, not with ^=")
            return column.mask(
                lambda values: any(str(value).startswith(self.values) for value in values), missing=self.values == ("",)
            )
        wanted = [_typed(self.field, value, column.type) for value in self.values]
        if self.operator in _COMPARE:
            if column.type is ColumnType.TEXT:
                raise ConfigError(f"{self.field} is text; filter it with =, != or ^=, not with {self.operator.value}")
            compare = cast("Callable[[Any, Any], bool]", _COMPARE[self.operator])
            return column.mask(lambda values: any(compare(value, wanted[0]) for value in values), missing=False)
        positive, chosen = self.operator is Operator.IS, frozenset(wanted)
        empty = (None in chosen) is positive
        return column.mask(lambda values: (not chosen.isdisjoint(values)) is positive, missing=empty)

    def _test(self) -> Callable[[str | None], bool]:
        """A test for stored values; a lookup, so that many values cost the same as one."""
        if self.operator is Operator.BEGINS:
            return lambda stored: (stored or "").startswith(self.values)
        if self.operator in _COMPARE:
            compare, bound = _COMPARE[self.operator], self.values[0]
            return lambda stored: bool(stored) and compare(stored or "", bound)
        wanted, positive = frozenset(self.values), self.operator is Operator.IS
        return lambda stored: ((stored or "") in wanted) is positive

    def _list_test(self) -> Callable[[str | None], bool]:
        """The same for a list, of which one member must match."""
        if self.operator is Operator.BEGINS:
            return lambda stored: any(_begins(texts_of(stored), wanted) for wanted in self.values)
        wanted, positive = frozenset(self.values), self.operator is Operator.IS
        return lambda stored: (not wanted.isdisjoint(texts_of(stored) or [""])) is positive


def within(snapshot: Snapshot, conditions: Sequence[Condition] = (), *, as_of: datetime.date | None = None) -> Bools | None:
    """Which documents match all conditions and are in force on a day; ``None`` without conditions and day.

    In force on a day means valid_from <= day < valid_to, where a missing date is unbounded; documents without validity dates,
    such as judgments, always match.

    >>> within(snapshot, [Condition.parse("number^=R")]).tolist()
    [False, False, False, False, True, True]
    >>> within(snapshot, as_of=datetime.date(2019, 12, 31)).any()  # every article is valid from 2020 on
    np.False_
    """
    masks = [condition.mask(snapshot) for condition in conditions]
    if as_of is not None and snapshot.has_history:  # it has the documents in force on its day only
        if snapshot.epoch(as_of) != snapshot.epoch(snapshot.day):
            raise ConfigError(f"the snapshot shows the law of {snapshot.day}, not of {as_of}; take snapshot.on(day)")
    elif as_of is not None:
        day = as_of.isoformat()
        for name, compare in (("valid_from", operator.le), ("valid_to", operator.gt)):
            codes, values = snapshot.coded(name)
            masks.append(np.array([value is None or compare(value, day) for value in values], dtype=np.bool_)[codes])
    return np.logical_and.reduce(masks) if masks else None


def _begins(path: Sequence[str], wanted: str) -> bool:
    """Whether a path begins with ``a > b``: all headings but the last are equal, the last is a prefix; ``a > b >`` needs all."""
    *above, last = (part.strip() for part in wanted.split(">"))
    if above and not last:
        return [part.strip() for part in path[: len(above)]] == above
    head = [part.strip() for part in path[: len(above) + 1]]
    return len(head) == len(above) + 1 and head[:-1] == above and head[-1].startswith(last)


def _typed(name: str, value: str, kind: ColumnType) -> str | float | None:
    """The value of a condition as its field's type; an empty one means documents without the field."""
    if not value:
        return None
    if kind is ColumnType.DATE:
        return _day(value)
    if kind is ColumnType.NUMBER:
        try:
            return float(value.replace("_", "?"))
        except ValueError:
            raise ConfigError(f"{name} is a number; compare it with one such as 12.5, got {value!r}") from None
    return value


def _day(value: str) -> str:
    try:
        day = parse_date(value)
    except DataError as error:
        raise ConfigError(f"a date was expected in a filter: {error}") from None
    if day is None:
        raise ConfigError(f"a known date was expected in a filter, got {value!r}")
    return day.isoformat()
