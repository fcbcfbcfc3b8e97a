"""The table of periods in a catalog: when each version of a document with history is in force.

An index without history has no such table. A period without a row is one in which the law had no such document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from lexfuse.errors import DataError
from lexfuse.storage.catalog_file import HISTORY_FORMAT, CatalogFile, damaged
from lexfuse.storage.history.version_rows import MARK, Period, document_id

AT_ONCE = 10_000  # ids in one statement
_SCHEMA = """CREATE TABLE periods (document TEXT NOT NULL, valid_from TEXT NOT NULL, valid_to TEXT NOT NULL, serial INTEGER,
                      PRIMARY KEY (document, valid_from)) WITHOUT ROWID"""
_PAST = "FROM documents WHERE instr(id, ?) > 0"


class PeriodTable(CatalogFile):
    """A catalog whose documents may have versions."""

    summed: ClassVar = {**CatalogFile.summed, "periods": "SELECT * FROM periods"}

    @property
    def has_history(self) -> bool:
        """Whether a document has versions, or a day since which it is known."""
        return self.has_table("periods") and bool(self._rows("SELECT 1 FROM periods LIMIT 1"))

    def periods(self, document: str | None = None) -> list[tuple[str, str, str, int | None]]:
        """The periods of a document, or of all: document, first day, day after the last, and the serial number of the row."""
        if not self.has_table("periods"):
            return []
        statement = "SELECT document, valid_from, valid_to, serial FROM periods"
        where, values = (" WHERE document = ?", (document,)) if document is not None else ("", ())
        found = self._rows(f"{statement}{where} ORDER BY document, valid_from", values)
        if any([*map(type, row[:3])] != [str, str, str] or type(row[3]) not in (int, type(None)) for row in found):
            raise self._wrong("periods")
        return found

    def past_rows(self) -> dict[int, str]:
        """The rows of past versions: their ids by serial number."""
        return dict(self._rows(f"SELECT serial, id {_PAST}", (MARK,))) if self.has_table("periods") else {}

    def past_segments(self) -> set[int]:
        """The segments of past versions."""
        if not self.has_table("periods"):
            return set()
        return {segment for (segment,) in self._rows(f"SELECT DISTINCT segment {_PAST}", (MARK,))}

    def begin_history(self) -> None:
        """Make the table of periods, if there is none; an older LexFuse does not read the index from now on."""
        if not self.has_table("periods"):
            if odd := self._rows(f"SELECT id {_PAST} LIMIT 1", (MARK,)):
                reason = f"the index has the id {odd[0][0]!r}; in an index with history no id has the character {MARK!r}"
                raise DataError(f"{reason}: delete that document first, or build another index")
            self.connection.execute(_SCHEMA)
            self.set_meta("format", HISTORY_FORMAT)

    def insert_periods(self, periods: Sequence[Period]) -> None:
        """Add the periods of documents whose rows are there, after `begin_history`."""
        found = self._rows_of_ids("SELECT id, serial FROM documents", [period.row for period in periods if period.row])
        serials = dict(found)
        rows = [(*period[:3], None if period.row is None else serials[period.row]) for period in periods]
        self.connection.executemany("INSERT INTO periods VALUES (?, ?, ?, ?)", rows)

    def remove_periods(self, documents: Sequence[str]) -> list[str]:
        """Remove the periods of documents, and return the ids of the rows of their past versions."""
        if not self.has_history:
            return []
        joined = "SELECT documents.id FROM periods JOIN documents USING (serial)"
        rows = [id for (id,) in self._rows_of_ids(joined, documents, column="document") if MARK in id]
        self.connection.executemany("DELETE FROM periods WHERE document = ?", [(id,) for id in documents])
        return list(dict.fromkeys(rows))

    def damaged_periods(self) -> list[str]:
        """Periods of rows that are not there, and past versions without a period, which no day would show."""
        if not self.has_table("periods"):
            return []
        lost = "SELECT document FROM periods WHERE serial NOTNULL AND serial NOT IN (SELECT serial FROM documents)"
        unseen = f"SELECT id {_PAST} AND serial NOT IN (SELECT serial FROM periods WHERE serial NOTNULL)"  # noqa: S608
        found = [f"document {id!r} has a period without a text" for (id,) in self._rows(lost)]
        return found + [f"a version of document {document_id(id)!r} has no period" for (id,) in self._rows(unseen, (MARK,))]

    def _rows_of_ids(self, statement: str, ids: Sequence[str], *, column: str = "id") -> Iterator[Any]:
        """The rows of a statement for those of the ids that the index has, in no order."""
        # A lone surrogate cannot be stored, so it cannot be present, and SQLite refuses it.
        wanted = [id for id in dict.fromkeys(ids) if id.isascii() or id.encode("utf-8", "ignore").decode() == id]
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            yield from self._rows(f"{statement} WHERE {column} IN ({marks(len(some))})", some)

    def _wrong(self, table: str) -> DataError:
        return damaged(self.path, f"its table {table} has rows that no index writes")


def marks(count: int) -> str:
    """Placeholders for as many values of a statement.

    >>> marks(3)
    '?, ?, ?'
    """
    return ", ".join("?" * count)
