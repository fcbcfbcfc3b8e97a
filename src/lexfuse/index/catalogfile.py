"""The file of the catalog: opened, written in one transaction by one writer, read in one state, and its settings by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Self

import orjson

from lexfuse.errors import DataError, NotFoundError
from lexfuse.index.sqlite import busy, named

FORMAT = 2
FILE = "catalog.sqlite"
_WAIT = 10_000  # milliseconds that a reader waits while another process opens, repairs or closes the file
WAIT_TO_WRITE = 200  # a second writer is told soon


class CatalogFile:
    """A SQLite file with a table of settings, `meta`; what else it holds is said by the schema of a class below.

    >>> import tempfile
    >>> class Notes(CatalogFile):
    ...     schema = "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = Notes.create(Path(folder), {"fields": ["text"]})
    ...     print(notes.meta("fields"), notes.meta("generation"))
    ...     notes.close()
    ['text'] 0
    """

    schema: ClassVar[str]

    def __init__(self, path: Path) -> None:
        """Connect to the file; use `create` or `open`."""
        self.path = path
        self._turn = Lock()  # from Python 3.12 on, threads that ask a connection the same at once get each other's rows
        with named(path):
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=_WAIT / 1000, check_same_thread=False)

    @classmethod
    def create(cls, folder: Path, settings: dict[str, Any]) -> Self:
        """A new, empty catalog in a folder."""
        catalog = cls(folder / FILE)
        with catalog._closed_on_error():
            catalog._rows("PRAGMA journal_mode = WAL")
            with catalog.writing():
                for statement in filter(str.strip, cls.schema.split(";")):
                    catalog.connection.execute(statement)
                for name, value in {"format": FORMAT, "generation": 0, "next_number": 1, "next_serial": 1, **settings}.items():
                    catalog.set_meta(name, value)
        return catalog

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The catalog of an index folder; a missing, damaged or newer one is a clear error."""
        path = folder / FILE
        if not path.is_file():
            raise NotFoundError(f"no index in {str(folder)!r} (it has no {FILE}); build one with lexfuse index CORPUS {folder}")
        catalog = cls(path)
        with catalog._closed_on_error():
            catalog._rows("PRAGMA synchronous = FULL")
            found = catalog.meta("format")
            if found != FORMAT:
                advice = "use a newer LexFuse" if found > FORMAT else "build the index again"
                raise DataError(f"the index has format {found}, this LexFuse reads {FORMAT}; {advice}", path=path)
        return catalog

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def meta(self, name: str) -> Any:
        """One setting of the index."""
        rows = self._rows("SELECT value FROM meta WHERE name = ?", (name,))
        try:
            return orjson.loads(rows[0][0])
        except (IndexError, TypeError, ValueError):
            reason = f"the catalog is damaged (no {name!r} in its meta table); restore it or build the index again"
            raise DataError(reason, path=self.path) from None

    def set_meta(self, name: str, value: Any) -> None:
        """Change a setting, inside `writing`."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, orjson.dumps(value).decode()))

    def next_number(self) -> int:
        """A number for a new folder, never used before; inside `writing`."""
        number: int = self.meta("next_number")
        self.set_meta("next_number", number + 1)
        return number

    @contextmanager
    def writing(self, wait: int = WAIT_TO_WRITE) -> Iterator[None]:
        """One transaction, for the only writer: all of it happens, or none. It waits so many milliseconds for another."""
        with named(self.path):
            if self.connection.in_transaction:
                raise busy(self.path)
            with self._impatient(wait):
                try:
                    self.connection.execute("BEGIN IMMEDIATE")
                    yield
                    self.connection.execute("COMMIT")
                finally:
                    if self.connection.in_transaction:
                        self.connection.rollback()

    @contextmanager
    def _impatient(self, wait: int) -> Iterator[None]:
        self.connection.execute(f"PRAGMA busy_timeout = {wait}")
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {_WAIT}")

    def hold(self) -> None:
        """See one and the same state from now on, until the catalog is closed."""
        self._rows("BEGIN")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent state for several reads."""
        with named(self.path):
            if self.connection.in_transaction:  # that of `writing`, which is consistent too
                yield
                return
            self.hold()
            try:
                yield
            finally:
                self.connection.rollback()

    def compact(self) -> None:
        """Give the space of deleted rows and of the write-ahead log back, as far as readers of older states allow."""
        with named(self.path), self._impatient(WAIT_TO_WRITE):
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with named(self.path), self._turn:
            return self.connection.execute(statement, values).fetchall()
