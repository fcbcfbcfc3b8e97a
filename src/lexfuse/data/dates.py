"""Dates of law: several spellings, and far-future placeholders that mean "no end known"."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from lexfuse.errors import DataError

# Legal databases write 2999-01-01 or 22/02/2222 where they mean "until further notice".
UNKNOWN_FUTURE_YEAR = 2200

_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_MONTHS = 12
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_date(value: object, *, path: str | None = None, day_first: bool = False) -> date | None:
    """Parse ISO text, ``dd/mm/yyyy``, ``yyyymmdd`` (text or number) or epoch milliseconds.

    ``2/3/2010`` is 2 March to some and 3 February to others: it is refused unless the source writes the day first for sure.

    Empty values (``None``, ``""``) and placeholders (year 2200 and later) give ``None``. The time of day is dropped; epoch
    milliseconds and ISO times in UTC give the day in UTC. Anything else is a `DataError`, about ``path`` if it is given.

    >>> parse_date("2023-05-04"), parse_date("24/05/2023"), parse_date(1209600000000)
    (datetime.date(2023, 5, 4), datetime.date(2023, 5, 24), datetime.date(2008, 5, 1))
    >>> parse_date("2999-01-01") is parse_date("22/02/2222") is None
    True
    """
    if value is None or value == "":
        return None
    try:
        day = _day(value, day_first)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{value!r} is not a date ({error}); write it as 2023-05-04", path=path) from None
    return None if day.year >= UNKNOWN_FUTURE_YEAR else day


def slashed(value: object) -> tuple[int, int] | None:
    """The first two numbers of a date with slashes, which are day and month in one order or the other.

    >>> slashed("24/05/2023"), slashed("2023-05-24")
    ((24, 5), None)
    """
    match = _SLASHED.fullmatch(value.strip()) if isinstance(value, str) else None
    return (int(match[1]), int(match[2])) if match else None


def is_ambiguous(value: object) -> bool:
    """Whether a date with slashes is another day if the month comes first.

    >>> is_ambiguous("2/3/2010"), is_ambiguous("3/3/2010"), is_ambiguous("24/3/2010")
    (True, False, False)
    """
    pair = slashed(value)
    return pair is not None and max(pair) <= _MONTHS and pair[0] != pair[1]


def _day(value: object, day_first: bool) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"got {type(value).__name__}")
    if not isinstance(value, str):
        if isinstance(value, int) and (compact := _compact(value)):
            return compact
        if 1000 <= value < UNKNOWN_FUTURE_YEAR:
            raise ValueError("a year alone")
        return (_EPOCH + timedelta(milliseconds=value)).date()
    text = value.strip()
    if match := _ISO.fullmatch(text):
        year, month, day = match.groups()
    elif match := _SLASHED.fullmatch(text):
        day, month, year = match.groups()
        if not day_first and is_ambiguous(text):
            raise ValueError("ambiguous: day or month first; for a table, --date-format says which")
    elif match := _COMPACT.fullmatch(text):
        year, month, day = match.groups()
    else:
        raise ValueError("unknown form")
    return date(int(year), int(month), int(day))


def _compact(value: int) -> date | None:
    """The date of a number like 20230504; no full hour of 1 January 1970 in epoch milliseconds looks like one."""
    try:
        return date(value // 10_000, value // 100 % 100, value % 100) if 10**7 <= value < 10**8 else None
    except ValueError:
        return None
