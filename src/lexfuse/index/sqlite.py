"""How SQLite opens a file, also one that cannot be written, and its errors as errors of ours."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexfuse.errors import BusyError, DataError, StorageError

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
def named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, which name the file and say what to do.

    >>> with named(Path("a.sqlite")):
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
