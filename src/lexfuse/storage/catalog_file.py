"""The file of the catalog: opened, written in one transaction by one writer, read in one state, and its settings by name."""

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
_WAIT = 10_000  # milliseconds that a reader waits while another process opens, repairs or closes the file
WAIT_TO_WRITE = 200  # a second writer is told soon
NUMBERS = ("format", "generation", "next_number", "next_serial")  # settings that are whole numbers
_HIGHEST = 10**18
_SCHEMA = "schema"  # the digest of what the tables are


class CatalogFile:
    """A SQLite file with a table of settings, `meta`; what else it holds is said by the schema of a class below."""

    schema: ClassVar[str]
    # Tables that are summed with every change, and larger ones, which may be missing; who changes one of these calls `recount`.
    summed: ClassVar[Mapping[str, str]] = {"meta": f"SELECT name, value FROM meta WHERE name != '{DIGESTS}'"}  # noqa: S608
    counted: ClassVar[Mapping[str, str]] = {}

    def __init__(self, path: Path) -> None:
        """Connect to the file; use `create` or `open`."""
        self.path = path
        self._unsettled = False  # whether the log may hold a change that could not be committed
        self._turn = Lock()  # from Python 3.12 on, threads that ask a connection the same at once get each other's rows
        address = address_of(path)
        self._state = _state(path) if UNLOCKED in address else None
        with sqlite_errors(path):
            self.connection = sqlite3.connect(
                address, isolation_level=None, timeout=_WAIT / 1000, check_same_thread=False, uri=True
            )

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
        check_plain(folder)
        if not path.is_file():
            raise UnknownIndexError(
                f"no index in {str(folder)!r} (it has no {FILE}); build one with lexfuse index CORPUS {folder}"
            )
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
        """One transaction, for the only writer: all of it happens, or none. It waits so many milliseconds for another.

        A catalog with a damaged table is a `DataError`, but for those that are written anew: they are `mended`.
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
                    claim()  # from here on it is done, whoever waits for it
                    self._commit()
                finally:
                    if self.connection.in_transaction:
                        self.connection.rollback()

    def _commit(self) -> None:
        """End the transaction. If the log cannot be forced to disk, whoever opens the index next may find the change there.

        Its files must then stay, or it must be written over first: only then it is true that nothing was changed.
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
        """Write something else over the end of the log. The number serves for nothing else."""
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
        """See one and the same state from now on, until the catalog is closed."""
        self._rows("BEGIN")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent state for several reads."""
        with sqlite_errors(self.path):
            if self.connection.in_transaction:  # that of `writing`, which is consistent too
                yield
                return
            self.hold()
            try:
                yield
            finally:
                self.connection.rollback()

    @property
    def has_digests(self) -> bool:
        """Whether the tables have check sums: an older LexFuse made none, and the next change adds them."""
        return self.has_table("meta") and bool(self._rows("SELECT 1 FROM meta WHERE name = ?", (DIGESTS,)))

    def damaged_tables(self, tables: Collection[str]) -> list[str]:
        """Those of the tables that are not what was written; none if there are no check sums to compare with."""
        if not self.has_digests:
            return []
        kept = self._kept_digests()
        return [table for table in (_SCHEMA, *tables) if self._digest(table) != kept.get(table)]

    def malformed(self) -> list[str]:
        """What SQLite finds wrong with the structure of its file."""
        return [" ".join(line.split()) for (line,) in self._rows("PRAGMA integrity_check") if line != "ok"]

    def check_tables(self, mended: Collection[str] = ()) -> None:
        """Refuse a catalog whose small tables are not what was written, but for those that are about to be `mended`."""
        for table in self.damaged_tables(self.summed):
            if table not in mended:
                raise damaged(self.path, f"table {table} has other rows than were written")

    def recount(self, table: str, *, added: Sequence[Sequence[Any]] = (), removed: Sequence[Sequence[Any]] = ()) -> None:
        """Change the digest of a counted table by the rows that were added and removed, inside `writing`."""
        kept = self._kept_digests() if self.has_digests else {}
        if table in kept:  # else it is summed with the change
            self._keep_digests(kept | {table: kept[table].plus(Digest.of(added)).minus(Digest.of(removed))})

    def sum_anew(self, table: str) -> None:
        """Forget the digest of a counted table whose rows were all removed, inside `writing`: the change sums it anew."""
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
            raise damaged(self.path, f"{DIGESTS!r} in its meta table are none") from None

    def _digest(self, table: str) -> Digest | None:
        """The digest of a table as it is now, None if there is no such table."""
        if table == _SCHEMA:
            return Digest.of(self._rows("SELECT type, name, tbl_name, sql FROM sqlite_master"))
        if not self.has_table(table):
            return None
        return Digest.of(self._rows({**self.summed, **self.counted}[table]))

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""
        return bool(self._rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    def compact(self) -> None:
        """Give the space of deleted rows and of the write-ahead log back, as far as readers of older states allow."""
        with sqlite_errors(self.path), self._impatient(WAIT_TO_WRITE):
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with sqlite_errors(self.path), self._turn:
            found = self.connection.execute(statement, values).fetchall()
        if self._state not in (None, _state(self.path)):
            raise StorageError(f"{str(self.path)!r} was changed by another process while it was read; open the index again")
        return found


def _state(path: Path) -> tuple[int, ...] | None:
    """What tells that a file has changed; None if it is not there."""
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
    """The address of a database: where its folder cannot be written, one that writes nothing, neither a log nor locks.

    Readers share a log and its table of contents, two files that such a folder cannot get. A log that is there is read; where
    there is none the database is read alone, and whoever reads must see to it that it stays as it was.

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
    except OSError:  # there is none, or its writer has just removed it
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
    """Turn SQLite's errors into ours, which name the file and say what to do.

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
    except UnicodeDecodeError as error:  # SQLite's own message quotes bytes of the file
        raise damaged(path, f"it holds bytes that are no text: {error.object[:40]!r}") from error


def damaged(path: Path, reason: str) -> DataError:
    """The error of a catalog that is not what was written.

    >>> damaged(Path("a.sqlite"), "no table meta")
    DataError('a.sqlite: the catalog is damaged (no table meta); restore it or build the index again')
    """
    return DataError(f"the catalog is damaged ({reason}); restore it or build the index again", path=path)
