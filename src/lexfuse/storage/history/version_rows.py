"""Documents with history as rows of the catalog: one row per text, and the periods in which each row is in force.

The newest version has the id of the document as the id of its row. Another version has the id, a mark that sorts before every
other character, and its first day: rows of a document are neighbours, in the order of the documents' ids. A text that returns
is one row with several periods, so it is stored and encoded once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from lexfuse.data.document import Document
from lexfuse.data.document_history import content_of, is_absence, versions_of
from lexfuse.errors import DataError
from lexfuse.storage.document_rows import DocumentRow, row_of

MARK = "\x01"


class Period(NamedTuple):
    """A period of a document, and the id of the row that is in force in it; none in a period without the document."""

    document: str
    valid_from: str  # empty if unbounded
    valid_to: str
    row: str | None


@dataclass(slots=True)
class VersionRows:
    """Rows of documents, sorted by id: those of newest versions, those of past versions, and the periods of both."""

    current: list[tuple[Document, DocumentRow]] = field(default_factory=list)
    past: list[tuple[Document, DocumentRow]] = field(default_factory=list)
    periods: list[Period] = field(default_factory=list)


def document_id(row: str) -> str:
    r"""The id of the document that a row belongs to.

    >>> document_id("a\x012016-10-01"), document_id("a")
    ('a', 'a')
    """
    return row.partition(MARK)[0]


def rows_of(documents: Iterable[Document]) -> VersionRows:
    """The rows of documents and of their versions; a repeated id is a `DataError`.

    >>> [row[0] for _, row in rows_of([Document("b"), Document("a")]).current]
    ['a', 'b']
    """
    rows = VersionRows()
    for document in documents:
        if document.history:
            _expand(document, rows)
        else:
            rows.current.append((document, row_of(document)))
    for some in (rows.current, rows.past):
        some.sort(key=lambda pair: pair[0].id)
        for (before, _), (after, _) in pairwise(some):
            if before.id == after.id:
                raise DataError(f"document {before.id!r} is repeated; keep one")
    return rows


def _expand(document: Document, rows: VersionRows) -> None:
    id, versions = document.id, versions_of(document)
    if MARK in id:
        raise DataError(f"document {id!r}: the id of a document with history has no character {MARK!r}; choose another id")
    texts = [one for one in versions if not is_absence(one)]
    if not texts:
        raise DataError(f"document {id!r} has only versions without title and text; leave it out, or give it a text")
    named: list[tuple[Document, str]] = [(content_of(texts[-1]), id)]  # content, and the id of its row
    stored = {id: texts[-1]}
    for version in versions:
        start, end = (day.isoformat() if day else "" for day in (version.valid_from, version.valid_to))
        if is_absence(version):
            rows.periods.append(Period(id, start, end, None))
            continue
        content = content_of(version)
        row = next((row for known, row in named if known == content), None)
        if row is None:
            row = f"{id}{MARK}{start}"
            named.append((content, row))
            stored[row] = version
        rows.periods.append(Period(id, start, end, row))
    for row, version in stored.items():
        some = rows.current if row == id else rows.past
        made = replace(version, id=row, history=())
        some.append((made, row_of(made)))
