"""Errors of SQLite as errors of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexfuse.errors import BusyError, DataError, StorageError


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
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_NOMEM")):
            advice = "free some space or check its permissions; nothing was changed"
            raise StorageError(f"cannot use {str(path)!r}: {error}; {advice}") from error
        raise damaged(path, str(error)) from error
    except UnicodeDecodeError as error:  # SQLite's own message quotes bytes of the file
        raise damaged(path, f"it holds bytes that are no text: {error.object[:40]!r}") from error


def damaged(path: Path, reason: str) -> DataError:
    """The error of a catalog that is not what was written.

    >>> damaged(Path("a.sqlite"), "no table meta")
    DataError('a.sqlite: the catalog is damaged (no table meta); restore it or build the index again')
    """
    return DataError(f"the catalog is damaged ({reason}); restore it or build the index again", path=path)
