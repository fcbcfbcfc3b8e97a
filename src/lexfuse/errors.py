"""Every error LexFuse raises on purpose, and the one table behind exit codes and HTTP answers.

A message says what is wrong, where, what was expected, and what to do.

    LexFuseError                    exit  HTTP
    ├── ConfigError                    2   400  a parameter, flag or setting that cannot be
    ├── DataError                      3   422  what a file, line or record holds
    ├── NotFoundError                  4   404  a file, id, field or citation that is not there
    ├── StorageError                   5   507  writing failed: full disk, permissions, target in the way
    │   └── BusyError                  5   503  another process writes; the same again may work
    ├── FetchError                     6   502  a registry did not give what was asked
    └── MissingDependencyError         7   501  an optional part is not installed

An interrupted command ends with 130, as shells expect.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

INTERRUPTED = 130


class LexFuseError(Exception):
    """The root: catch this to catch everything LexFuse raises on purpose.

    >>> raise ConfigError("k must be at least 1, got 0")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: k must be at least 1, got 0
    """

    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"


class ConfigError(LexFuseError):
    """A parameter, flag or setting has a value that cannot be.

    >>> ConfigError.exit_code, ConfigError.status
    (2, 400)
    """

    exit_code = 2
    status = 400
    title = "Invalid parameter"


class DataError(LexFuseError):
    """A file, line or record does not hold what its format promises.

    >>> str(DataError("no field 'text'", path="corpus.jsonl", line=3))
    "corpus.jsonl, line 3: no field 'text'"
    """

    exit_code = 3
    status = 422
    title = "Invalid data"

    def __init__(self, reason: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        """Keep the reason, the file and the line apart, so that callers can group by them."""
        self.reason = reason
        self.path = None if path is None else str(path)
        self.line = line
        super().__init__(f"{place(path, line)}{reason}")


class NotFoundError(LexFuseError):
    """A file, id, field or citation that is not there.

    >>> NotFoundError.exit_code
    4
    """

    exit_code = 4
    status = 404
    title = "Not found"


class StorageError(LexFuseError):
    """Writing failed; what was there before is untouched.

    >>> StorageError.exit_code
    5
    """

    exit_code = 5
    status = 507
    title = "Storage failure"


class BusyError(StorageError):
    """Another process is writing; nothing was changed, and the same again may work.

    >>> BusyError.status
    503
    """

    status = 503
    title = "Busy"


class FetchError(LexFuseError):
    """A package registry did not give what was asked, or gave other bytes.

    >>> FetchError.exit_code
    6
    """

    exit_code = 6
    status = 502
    title = "Download failure"


class MissingDependencyError(LexFuseError):
    """An optional part of LexFuse is not installed; the message names the extra.

    >>> MissingDependencyError.exit_code
    7
    """

    exit_code = 7
    status = 501
    title = "Missing dependency"


def place(path: str | Path | None, line: int | None) -> str:
    """Say where: ``file, line n: `` as far as it is known.

    >>> place("a.csv", 2)
    'a.csv, line 2: '
    >>> place(None, None)
    ''
    """
    if path is None:
        return "" if line is None else f"line {line}: "
    return f"{path}: " if line is None else f"{path}, line {line}: "
