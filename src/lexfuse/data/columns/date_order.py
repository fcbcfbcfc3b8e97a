"""Whether a table writes 2/3/2010 with the day or the month first: other dates of the same table decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from lexfuse.data.dates import is_ambiguous, parse_date, slashed
from lexfuse.data.formats.fields import DATE_FIELDS, known_names

_NAMES = known_names(DATE_FIELDS)


class DateOrder:
    """The order of day and month in a table; its records are read once more when the first date is ambiguous.

    ``25/12/2010`` shows that a table writes the day first, unless another date shows the contrary. Without such a date an
    ambiguous one stays as it is, and is refused where it is parsed.

    >>> order = DateOrder(lambda: [{"date": "25/12/2010"}, {"date": "2/3/2010"}])
    >>> order.settled({"id": "a", "date": "2/3/2010"})
    {'id': 'a', 'date': '2010-03-02'}
    """

    def __init__(self, records: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
        """``records`` reads the table from its beginning."""
        self._records = records

    def settled(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record with its ambiguous dates in ISO form, if the order is known."""
        doubtful = {name: record[name] for name in _NAMES & record.keys() if is_ambiguous(record[name])}
        if not doubtful or not self._is_day_first:
            return record
        return record | {name: str(parse_date(value, day_first=True) or "") for name, value in doubtful.items()}

    @cached_property
    def _is_day_first(self) -> bool:
        found = (slashed(record[name]) for record in self._records() for name in _NAMES & record.keys())
        pairs = {(day > 12, month > 12) for day, month in filter(None, found)}
        return (True, False) in pairs and (False, True) not in pairs
