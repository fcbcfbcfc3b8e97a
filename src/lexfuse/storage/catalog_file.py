"""The catalog file: opened, written in one transaction by one writer, read in one state; and its settings by name."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Self

import orjson

from lexfuse.deadline import claim
from lexfuse.errors import BusyError, DataError, StorageError, UnknownIndexError
from lexfuse.storage.folder_names import FILE, check_plain
from lexfuse.storage.table_digests import DIGESTS, Digest

FORMAT = 2
HISTORY_FORMAT = 3  # of an index with versions of documents, which an older LexFuse would mistake for documents
_WAIT = 10_000  # milliseconds a reader waits while another process opens, repairs or closes the file
WAIT_TO_WRITE = 200  # a second writer is refused soon
NUMBERS = ("format", "generation", "next_number", "next_serial")  # settings that are integers
_HIGHEST = 10**18
_SCHEMA = "schema"  # the digest of the table definitions


class CatalogFile:
    """A SQLite file with a table of settings, `meta`; the schema of a subclass defines its other tables."""

    schema: ClassVar[str]
    # Tables summed with every change; and larger, optional ones: code that changes one of these calls `recount`.
    summed: ClassVar[Mapping[str, str]] = {"meta": f"SELECT name, value FROM meta WHERE name != '{DIGESTS}'"}  # noqa: S608
    counted: ClassVar[Mapping[str, str]] = {}

    def __init__(self, path: Path) -> None:
        """Connect to the file; use `create` or `open` instead."""
        self.path = path
        self._unsettled = False  # whether the log may contain a change that could not be committed
        self._turn = Lock()  # from Python 3.12 on, threads with the same query on a connection can get each other's rows
        address = address_of(path)
        self._state = _state(path) if UNLOCKED in address else None
        with sqlite_errors(path):
            self.connection = sqlite3.connect(
                address, isolation_level=None, timeout=_WAIT / 1000, check_same_thread=False, uri=True
            )

    @classmethod
    def create(cls, folder: Path, settings: dict[str, Any]) -> Self:
        """Create an empty catalog in a folder."""
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
        """Open the catalog of an index folder; a missing, damaged or newer one is a clear error."""
        path = folder / FILE
        check_plain(folder)
        if not path.is_file():
            raise UnknownIndexError(
                f"no index in {str(folder)!r} (it has no {FILE}); build one with lexfuse index CORPUS {folder}"
            )
        catalog = cls(path)
        with catalog._closed_on_error():
            catalog._rows("PRAGMA synchronous = FULL")
            found = catalog.meta("format")
            if found not in (FORMAT, HISTORY_FORMAT):
                advice = "use a newer LexFuse" if found > HISTORY_FORMAT else "build the index again"
                reads = f"this LexFuse reads {FORMAT} and {HISTORY_FORMAT}"
                raise DataError(f"the index has format {found}, {reads}; {advice}", path=path)
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
            value = orjson.loads(rows[0][0])
        except (IndexError, TypeError, ValueError):
            raise damaged(self.path, f"no {name!r} in its meta table") from None
        if name in NUMBERS and (type(value) is not int or not 0 <= value < _HIGHEST):
            raise damaged(self.path, f"{name!r} in its meta table must be a whole number, got {value!r}")
        return value

    def set_meta(self, name: str, value: Any) -> None:
        """Change a setting, inside `writing`."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, orjson.dumps(value).decode()))

    def next_number(self) -> int:
        """A number for a new folder, never used before; inside `writing`."""
        number: int = self.meta("next_number")
        self.set_meta("next_number", number + 1)
        return number

    @contextmanager
    def writing(self, wait: int = WAIT_TO_WRITE, *, mended: Collection[str] = ()) -> Iterator[None]:
        """One transaction by the only writer: all or nothing. ``wait`` is the milliseconds to wait for another writer.

        A catalog with a damaged table is a `DataError`, except for tables that are rewritten (``mended``).
        """
        with sqlite_errors(self.path):
            if self.connection.in_transaction:
                raise busy(self.path)
            with self._impatient(wait):
                try:
                    if self._unsettled:
                        self._settle()
                    self.connection.execute("BEGIN IMMEDIATE")
                    self.check_tables(mended)
                    before = self.connection.total_changes
                    yield
                    if self.connection.total_changes > before:
                        self._sum_tables()
                    claim()  # from here on the change is made
                    self._commit()
                finally:
                    if self.connection.in_transaction:
                        self.connection.rollback()

    def _commit(self) -> None:
        """Commit the transaction. If the log cannot be flushed, the next process to open the index may find the change.

        Its files must then stay, or the log must be overwritten first: only then "nothing was changed" is true.
        """
        try:
            self.connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if self.connection.in_transaction:
                self.connection.rollback()
            try:
                self._settle()
            except sqlite3.Error:
                reason = f"{error}; the change may have been made or not; check the disk, then open the index again and look"
                raise StorageError(f"cannot use {str(self.path)!r}: {reason}") from error
            raise

    def _settle(self) -> None:
        """Overwrite the end of the log. The number has no other use."""
        self._unsettled = True
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        self.connection.execute(f"PRAGMA user_version = {(version + 1) % 2**31}")
        self._unsettled = False

    @contextmanager
    def _impatient(self, wait: int) -> Iterator[None]:
        self.connection.execute(f"PRAGMA busy_timeout = {wait}")
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {_WAIT}")

    def hold(self) -> None:
        """See the same state from now on, until the catalog is closed."""
        self._rows("BEGIN")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent state for several reads."""
        with sqlite_errors(self.path):
            if self.connection.in_transaction:  # inside `writing`, which is consistent too
                yield
                return
            self.hold()
            try:
                yield
            finally:
                self.connection.rollback()

    @property
    def has_digests(self) -> bool:
        """Whether the tables have checksums: an older LexFuse wrote none, and the next change adds them."""
        return self.has_table("meta") and bool(self._rows("SELECT 1 FROM meta WHERE name = ?", (DIGESTS,)))

    def damaged_tables(self, tables: Collection[str]) -> list[str]:
        """Those of the tables that differ from what was written; empty if there are no checksums."""
        if not self.has_digests:
            return []
        kept = self._kept_digests()
        return [table for table in (_SCHEMA, *tables) if self._digest(table) != kept.get(table)]

    def malformed(self) -> list[str]:
        """SQLite's findings about the structure of its file."""
        return [" ".join(line.split()) for (line,) in self._rows("PRAGMA integrity_check") if line != "ok"]

    def check_tables(self, mended: Collection[str] = ()) -> None:
        """Refuse a catalog whose small tables differ from what was written, except for those about to be ``mended``."""
        for table in self.damaged_tables(self.summed):
            if table not in mended:
                raise damaged(self.path, f"table {table} has other rows than were written")

    def recount(self, table: str, *, added: Sequence[Sequence[Any]] = (), removed: Sequence[Sequence[Any]] = ()) -> None:
        """Update the digest of a counted table by added and removed rows, inside `writing`."""
        kept = self._kept_digests() if self.has_digests else {}
        if table in kept:  # else the change sums it
            self._keep_digests(kept | {table: kept[table].plus(Digest.of(added)).minus(Digest.of(removed))})

    def sum_anew(self, table: str) -> None:
        """Drop the digest of a counted table whose rows were all removed, inside `writing`; the change sums it again."""
        kept = self._kept_digests() if self.has_digests else {}
        self._keep_digests({name: digest for name, digest in kept.items() if name != table})

    def _sum_tables(self) -> None:
        kept = self._kept_digests() if self.has_digests else {}
        found = {table: self._digest(table) for table in (_SCHEMA, *self.summed)}
        self._keep_digests(found | {table: kept.get(table) or self._digest(table) for table in self.counted})

    def _keep_digests(self, digests: Mapping[str, Digest | None]) -> None:
        self.set_meta(DIGESTS, {table: digest.text for table, digest in digests.items() if digest is not None})

    def _kept_digests(self) -> dict[str, Digest]:
        try:
            return {table: Digest.parse(text) for table, text in self.meta(DIGESTS).items()}
        except (AttributeError, ValueError):
            raise damaged(self.path, f"{DIGESTS!r} in its meta table are invalid") from None

    def _digest(self, table: str) -> Digest | None:
        """The digest of a table, ``None`` if it does not exist."""
        if table == _SCHEMA:
            return Digest.of(self._rows("SELECT type, name, tbl_name, sql FROM sqlite_master"))
        if not self.has_table(table):
            return None
        return Digest.of(self._rows(self._selected(table)))

    def _selected(self, table: str) -> str:
        """The statement that selects the rows of a table for its digest."""
        return {**self.summed, **self.counted}[table]

    def has_table(self, name: str) -> bool:
        """Whether a table of this name exists."""
        return bool(self._rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    def compact(self) -> None:
        """Release the space of deleted rows and of the write-ahead log, as far as readers of older states allow."""
        with sqlite_errors(self.path), self._impatient(WAIT_TO_WRITE):
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with sqlite_errors(self.path), self._turn:
            found = self.connection.execute(statement, values).fetchall()
        if self._state not in (None, _state(self.path)):
            raise StorageError(f"{str(self.path)!r} was changed by another process while it was read; open the index again")
        return found


def _state(path: Path) -> tuple[int, ...] | None:
    """Values that change with a file; ``None`` if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


_ADVICE = {
    "SQLITE_READONLY": "it can be read but not written; check its permissions and those of its file system",
    "SQLITE_CANTOPEN": "check its permissions; a log that a killed writer left is read where its folder can be written",
    **dict.fromkeys(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_PERM", "SQLITE_NOMEM"), "free some space or check its permissions"),
}
UNLOCKED = "mode=ro&immutable=1"


def address_of(path: Path) -> str:
    """The address of a database; in a read-only folder, one that writes neither a log nor locks.

    Readers share a log and its index, two files that cannot be created in such a folder. An existing log is read; without one,
    the database is read alone, and readers must check that it does not change.

    >>> address_of(Path("/tmp/a b.sqlite"))
    'file:///tmp/a%20b.sqlite'
    >>> address_of(Path("/nowhere/a.sqlite"))
    'file:///nowhere/a.sqlite?mode=ro&immutable=1'
    """
    uri = path.absolute().as_uri()
    if os.access(path.parent, os.W_OK):
        return uri
    try:
        logged = path.with_name(f"{path.name}-wal").stat().st_size > 0
    except OSError:  # it does not exist, or its writer has just removed it
        logged = False
    return f"{uri}?mode=ro" if logged else f"{uri}?{UNLOCKED}"


def busy(path: Path) -> BusyError:
    """The error of a second writer.

    >>> busy(Path("legi.index/catalog.sqlite"))
    BusyError("'legi.index' is being written by another process; wait for it to end; nothing was changed")
    """
    return BusyError(f"{str(path.parent)!r} is being written by another process; wait for it to end; nothing was changed")


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into LexFuse errors that name the file and the remedy.

    >>> with sqlite_errors(Path("a.sqlite")):
    ...     raise sqlite3.ProgrammingError
    Traceback (most recent call last):
    ...
    lexfuse.errors.StorageError: 'a.sqlite' was closed; open the index again
    """
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if isinstance(error, sqlite3.ProgrammingError):
            raise StorageError(f"{str(path)!r} was closed; open the index again") from error
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise busy(path) from error
        if advice := next((advice for code, advice in _ADVICE.items() if name.startswith(code)), None):
            raise StorageError(f"cannot use {str(path)!r}: {error}; {advice}; nothing was changed") from error
        raise damaged(path, str(error)) from error
    except UnicodeDecodeError as error:  # SQLite's message quotes bytes of the file
        raise damaged(path, f"it has bytes that are not text: {error.object[:40]!r}") from error


def damaged(path: str | Path, reason: str) -> DataError:
    """The error of a catalog that differs from what was written.

    >>> damaged(Path("a.sqlite"), "no table meta")
    DataError('a.sqlite: the catalog is damaged (no table meta); restore it or build the index again')
    """
    return DataError(f"the catalog is damaged ({reason}); restore it or build the index again", path=path)
