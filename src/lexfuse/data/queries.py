"""Queries: questions, keywords or whole judgments, as columns."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lexfuse.data.arrays import Days
from lexfuse.data.corpus import days
from lexfuse.data.ids import Ids


@dataclass(frozen=True, slots=True)
class Query:
    """One query; temporal experiments use its date."""

    id: str
    text: str
    language: str = ""
    date: datetime.date | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Queries as immutable columns, addressed by ordinal or by id.

    >>> Queries.of([Query("q1", "préavis")]).query("q1").text
    'préavis'
    """

    ids: Ids
    text: tuple[str, ...]
    language: tuple[str, ...]
    date: Days  # NaT where not known
    extra: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, queries: Iterable[Query]) -> Queries:
        """Build the columns from queries; a repeated id is a `DataError`."""
        rows = list(queries)
        return cls(
            ids=Ids(row.id for row in rows),
            text=tuple(row.text for row in rows),
            language=tuple(row.language for row in rows),
            date=days(row.date for row in rows),
            extra=tuple(row.extra for row in rows),
        )

    def query(self, id: str) -> Query:
        """The query with this id; `NotFoundError` for an unknown id."""
        return self[self.ids.ordinal(id)]

    def select(self, ordinals: Sequence[int]) -> Queries:
        """The queries at these ordinals, in this order."""
        return Queries.of(self[int(ordinal)] for ordinal in ordinals)

    def __getitem__(self, ordinal: int) -> Query:
        """The query at an ordinal."""
        return Query(
            id=self.ids[ordinal],
            text=self.text[ordinal],
            language=self.language[ordinal],
            date=self.date[ordinal].item(),
            extra=self.extra[ordinal],
        )

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.ids)

    def __iter__(self) -> Iterator[Query]:
        """The queries by ordinal."""
        return (self[ordinal] for ordinal in range(len(self)))
