"""What changed in a document from one day to another: its versions of both days, and their words."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property

from lexfuse.data.document import Document
from lexfuse.data.document_history import in_force
from lexfuse.errors import ConfigError, UnknownDocumentError
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.similar import known_day
from lexfuse.text.difference import TextChange, word_changes


@dataclass(frozen=True)
class VersionDifference:
    """A document on two days; None on a day on which it is not in force, or unknown: a day before the first version."""

    id: str
    days: tuple[datetime.date, datetime.date]
    before: Document | None
    after: Document | None
    first_day: datetime.date | None = None  # of the first version

    @property
    def unknown_days(self) -> tuple[datetime.date, ...]:
        """The days before the first version, on which the document may have had another text."""
        return tuple(day for day in self.days if self.first_day is not None and day < self.first_day)

    @cached_property
    def changes(self) -> tuple[TextChange, ...]:
        """The parts of both texts in order: the same, removed, added."""
        return word_changes(self.before.text if self.before else "", self.after.text if self.after else "")

    @property
    def changed(self) -> bool:
        """Whether the texts differ, or the document is in force on one of the days only."""
        return (self.before is None) != (self.after is None) or any(change.kind != "same" for change in self.changes)


def difference(version: IndexVersion, name: str, before: str | datetime.date, after: str | datetime.date) -> VersionDifference:
    """The versions of a document, by its id or a citation, on two days.

    >>> difference(IndexVersion(snapshot), "article L. 4", "2021-09-01", "2024-01-01").changed
    False
    """
    first, last = known_day(before, "the first day"), known_day(after, "the second day")
    if first is None or last is None:
        raise ConfigError(f"two days were expected, got {before!r} and {after!r}; write them as 2024-01-31")
    versions = document_history(version, name)
    earlier, later = (next((one for one in versions if in_force(one, day)), None) for day in (first, last))
    known = version.snapshot.first_known_day(versions[0].id)
    return VersionDifference(versions[0].id, (first, last), earlier, later, first_day=known)


def document_history(version: IndexVersion, name: str) -> list[Document]:
    """All versions of a document by its id or a citation, the oldest first.

    >>> [str(one.valid_from) for one in document_history(IndexVersion(snapshot), "article L. 4")]
    ['2021-09-01']
    """
    try:
        return version.snapshot.history(name)
    except UnknownDocumentError:
        return version.snapshot.history(version.meant(name))
