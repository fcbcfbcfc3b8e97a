"""The versions of a document: texts of the same id, each in force in its own period ``[valid_from, valid_to)``.

A version without title and text is an absence: it says that the law had no such document in that period. A day before the first
period is unknown; a day between two periods, or after the last, is known to have no version.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from lexfuse.data.document import Document
from lexfuse.errors import DataError

_FIRST, _LAST = datetime.date.min, datetime.date.max  # of a period that is open


def is_absence(version: Document) -> bool:
    """Whether a version says that there was no such document."""
    return not version.title and not version.text


def in_force(version: Document, day: datetime.date) -> bool:
    """Whether a version is in force on a day; a missing date is unbounded.

    >>> in_force(Document("a", text="la loi", valid_to=datetime.date(2016, 10, 1)), datetime.date(2016, 10, 1))
    False
    """
    return (version.valid_from or _FIRST) <= day < (version.valid_to or _LAST)


def versions_of(document: Document) -> tuple[Document, ...]:
    """All versions of a document, the oldest first, absences included; overlapping periods are a `DataError`.

    Versions that follow each other with the same content are one. A version without a language has that of the document.

    >>> old = Document("a", text="avant", valid_from=datetime.date(1804, 3, 21))
    >>> new = Document("a", text="après", valid_from=datetime.date(2016, 10, 1), history=(old,))
    >>> [(one.text, str(one.valid_to)) for one in versions_of(new)]
    [('avant', '2016-10-01'), ('après', 'None')]
    """
    every = [replace(one, language=one.language or document.language, history=()) for one in (document, *document.history)]
    every.sort(key=lambda one: one.valid_from or _FIRST)
    for at, (before, after) in enumerate(pairwise(every)):
        _check(before, after)
        if before.valid_to is None:
            every[at] = replace(before, valid_to=after.valid_from)
    joined = every[:1]
    for one in every[1:]:
        last = joined[-1]
        if last.valid_to == one.valid_from and same_content(last, one):
            joined[-1] = replace(last, valid_to=one.valid_to)
        else:
            joined.append(one)
    return tuple(joined)


def same_content(one: Document, other: Document) -> bool:
    """Whether two versions differ in their dates only.

    >>> same_content(Document("a", text="la loi"), Document("a", text="la loi", valid_from=datetime.date(2000, 1, 1)))
    True
    """
    return content_of(one) == content_of(other)


def content_of(version: Document) -> Document:
    """A version without its period and without the label of its state, which follows from it."""
    return replace(version, valid_from=None, valid_to=None, status=type(version.status).UNKNOWN, history=())


def join_versions(documents: Iterable[Document]) -> list[Document]:
    """Documents in which versions of the same id are one document: the newest, with the others as its history.

    >>> old = Document("a", text="avant", valid_from=datetime.date(1804, 3, 21))
    >>> [len(one.history) for one in join_versions([old, Document("a", text="après", valid_from=datetime.date(2016, 10, 1))])]
    [1]
    >>> join_versions([Document("a"), Document("a")])
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: id 'a' is repeated; ids must be unique, but for versions of a document with other valid_from
    """
    found: dict[str, list[Document]] = {}
    for document in documents:
        found.setdefault(document.id, []).append(document)
    return [every[0] if len(every) == 1 else _joined(every) for every in found.values()]


def _joined(every: Sequence[Document]) -> Document:
    versions = [replace(one, history=()) for document in every for one in (document, *document.history)]
    versions.sort(key=lambda one: one.valid_from or _FIRST)
    for before, after in pairwise(versions):
        if before.valid_from == after.valid_from:
            reason = "ids must be unique, but for versions of a document with other valid_from"
            raise DataError(f"id {after.id!r} is repeated; {reason}")
    newest = next((one for one in reversed(versions) if not is_absence(one)), versions[-1])
    return replace(newest, history=tuple(one for one in versions if one is not newest))


def _check(before: Document, after: Document) -> None:
    periods = f"{_written(before)} and {_written(after)}"
    if before.id != after.id:
        raise DataError(f"document {before.id!r} has a version with another id, {after.id!r}; versions share their id")
    if after.valid_from is None or after.valid_from == before.valid_from:
        raise DataError(f"document {before.id!r} has two versions from the same day, {periods}; keep one")
    if before.valid_to is not None and before.valid_to > after.valid_from:
        raise DataError(f"document {before.id!r} has versions whose periods overlap, {periods}; correct their dates")


def _written(version: Document) -> str:
    return f"[{version.valid_from or '…'}, {version.valid_to or '…'})"
