"""CELEX numbers of EU judgments: the court, and the case numbers in common use."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Court of a CELEX descriptor, by its first letter.
COURTS = {"C": "Court of Justice", "T": "General Court", "F": "Civil Service Tribunal"}

# Cases had no letter until the General Court was created in 1989; later judgments add it even to older cases.
LAST_YEAR_WITHOUT_LETTER = 1989

_JUDGMENT = re.compile(r"6(?P<year>\d{4})(?P<court>[CTF])[A-Z](?P<number>\d{4})(?:\(\d+\))?")


@dataclass(frozen=True, slots=True)
class CaseName:
    """The court and the case numbers of a CELEX number.

    >>> CaseName.of("62022CJ0060")
    CaseName(court='Court of Justice', numbers=('C-60/22',))
    >>> CaseName.of("61962CJ0026").numbers, CaseName.of("62016TJ0540").numbers
    (('C-26/62', '26/62'), ('T-540/16',))
    """

    court: str
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, celex: str) -> CaseName | None:
        """Parse a CELEX number; ``None`` if it is not a decision of an EU court."""
        match = _JUDGMENT.fullmatch(celex)
        if not match:
            return None
        year, number = int(match["year"]), int(match["number"])
        bare = f"{number}/{year % 100:02d}"
        named = f"{match['court']}-{bare}"
        old = match["court"] == "C" and year <= LAST_YEAR_WITHOUT_LETTER
        return cls(COURTS[match["court"]], (named, bare) if old else (named,))
