"""What an index knows about the law of one day: a corpus of current versions is silent about the years before them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DayCoverage:
    """How many documents are in force on a day, and how many are unknown on it.

    >>> DayCoverage(datetime.date(2010, 1, 1), documents=29_115, in_force=11_442, unknown=17_673).note
    '17,673 of 29,115 documents were not searched: the index has no version for 2010-01-01, only later ones'
    """

    day: datetime.date
    documents: int
    in_force: int  # includes documents without dates, such as judgments
    unknown: int  # the index has only versions that begin after the day

    @property
    def note(self) -> str:
        """A remark for readers of results; empty if every document is known on the day."""
        if not self.unknown:
            return ""
        were = "was" if self.unknown == 1 else "were"
        missing = f"the index has no version for {self.day.isoformat()}, only later ones"
        return f"{self.unknown:,} of {self.documents:,} documents {were} not searched: {missing}"
