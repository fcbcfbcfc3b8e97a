"""The corpus: documents as columns."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from lexfuse.data.arrays import Days, read_only
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.document_history import join_versions
from lexfuse.data.ids import Ids

DATE_COLUMNS = ("date", "valid_from", "valid_to")


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Documents as immutable columns, addressed by ordinal or by id.

    >>> corpus = Corpus.of([Document("a", text="un"), Document("b", text="deux")])
    >>> len(corpus), corpus[1].text, corpus.document("a").text
    (2, 'deux', 'un')
    """

    ids: Ids
    title: tuple[str, ...]
    text: tuple[str, ...]
    language: tuple[str, ...]
    kind: tuple[DocumentKind, ...]
    code: tuple[str, ...]
    number: tuple[str, ...]
    headings: tuple[tuple[str, ...], ...]
    court: tuple[str, ...]
    date: Days  # NaT where not known
    valid_from: Days
    valid_to: Days
    status: tuple[DocumentStatus, ...]
    identifiers: tuple[tuple[str, ...], ...]
    citations: tuple[tuple[str, ...], ...]
    extra: tuple[Mapping[str, Any], ...]
    history: tuple[tuple[Document, ...], ...]  # other versions of each document

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Corpus:
        """Build the columns from documents; a repeated id is another version, or a `DataError` if it begins on the same day."""
        rows = join_versions(documents)
        columns: dict[str, Any] = {"ids": Ids(row.id for row in rows)}
        for name in _ROW_FIELDS:
            values = tuple(getattr(row, name) for row in rows)
            columns[name] = days(values) if name in DATE_COLUMNS else values
        return cls(**columns)

    def document(self, id: str) -> Document:
        """The document with this id; `NotFoundError` if the corpus has no such id."""
        return self[self.ids.ordinal(id)]

    def select(self, ordinals: Sequence[int]) -> Corpus:
        """The corpus of these rows, in this order."""
        return Corpus.of(self[int(ordinal)] for ordinal in ordinals)

    def __getitem__(self, ordinal: int) -> Document:
        """The document at an ordinal."""
        values = {name: getattr(self, name)[ordinal] for name in _ROW_FIELDS}
        for name in DATE_COLUMNS:
            values[name] = cast("datetime.date | None", values[name].item())
        return Document(id=self.ids[ordinal], **values)

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.ids)

    def __iter__(self) -> Iterator[Document]:
        """The documents by ordinal."""
        return (self[ordinal] for ordinal in range(len(self)))


_ROW_FIELDS = tuple(f.name for f in fields(Document) if f.name != "id")


def days(values: Iterable[datetime.date | None]) -> Days:
    """A column of dates, NaT for ``None``.

    >>> days([datetime.date(2020, 1, 2), None]).tolist()
    [datetime.date(2020, 1, 2), None]
    """
    return read_only(np.array(["NaT" if day is None else day for day in values], dtype="datetime64[D]"))
