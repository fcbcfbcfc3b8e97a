"""Numbers, dates and durations in French and English."""

from __future__ import annotations

import datetime

from lexfuse.text.letters import NARROW_SPACE, NO_BREAK_SPACE

_MONTHS = {
    "fr": ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
           "décembre"],
    "en": ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December"],
}  # fmt: skip


def number(value: float, language: str, digits: int | None = None) -> str:
    """A number with separated thousands; `digits` decimals, or as many as three significant digits need.

    >>> number(29104, "en"), number(29104, "fr")
    ('29,104', '29\u202f104')
    >>> number(0.02613, "fr"), number(12.5, "en", 2), number(-0.5, "en", 1)
    ('0,0261', '12.50', '−0.5')
    """
    if digits is None:
        digits = 0 if isinstance(value, int) else _digits(abs(value))
    text = f"{abs(value):,.{digits}f}"
    if language == "fr":
        text = text.replace(",", NARROW_SPACE).replace(".", ",")
    negative = value < 0 and any(sign in text for sign in "123456789")
    return f"−{text}" if negative else text


def _digits(size: float) -> int:
    """Decimals for three significant digits, at most four."""
    if size >= 100 or size == 0:
        return 1
    return 2 if size >= 1 else 3 if size >= 0.1 else 4


def day(value: datetime.date, language: str) -> str:
    r"""A day in words, with no-break spaces.

    >>> day(datetime.date(2008, 5, 1), "fr").replace(NO_BREAK_SPACE, " "), day(datetime.date(2008, 5, 1), "en")
    ('1er mai 2008', '1\xa0May\xa02008')
    """
    first = "1er" if language == "fr" and value.day == 1 else str(value.day)
    month = _MONTHS["fr" if language == "fr" else "en"][value.month - 1]
    return NO_BREAK_SPACE.join((first, month, str(value.year)))


def milliseconds(value: float, language: str) -> str:
    r"""A duration: in milliseconds, from a second on in seconds.

    >>> milliseconds(12.34, "en"), milliseconds(1234.0, "fr"), milliseconds(0.4, "en")
    ('12\xa0ms', '1,2\xa0s', '0.4\xa0ms')
    """
    if value >= 1000:
        return f"{number(value / 1000, language, 1)}{NO_BREAK_SPACE}s"
    return f"{number(value, language, 0 if value >= 10 else 1)}{NO_BREAK_SPACE}ms"
