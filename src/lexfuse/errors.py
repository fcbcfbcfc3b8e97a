"""Every error LexFuse raises on purpose, and the one table behind exit codes and HTTP answers.

A message says what is wrong, where, what was expected, and what to do.

    LexFuseError                    exit  HTTP
    ├── ConfigError                    2   400  a parameter, flag or setting that cannot be
    ├── DataError                      3   422  what a file, line or record holds
    ├── NotFoundError                  4   404  a file, id, field or citation that is not there
    │   └── GoneError                  4   410  what was there, and is no more
    ├── StorageError                   5   507  writing failed: full disk, permissions, target in the way
    │   └── BusyError                  5   503  another process writes; the same again may work
    ├── FetchError                     6   502  a registry did not give what was asked
    ├── MissingDependencyError         7   501  an optional part is not installed
    ├── AccessError                    8   401  no key, or one that is not known
    │   └── ForbiddenError             8   403  a key that does not allow it
    ├── ConflictError                  9   412  what is to be changed has changed meanwhile
    ├── LimitError                    10   429  more than is allowed in a while
    │   ├── TooLargeError             10   413  a body or a query above the limit
    │   └── OverloadError             10   503  too much at once, or not done in time
    └── TrainingError                 11   500  a training that cannot go on; what it had is kept

A command ends with 130 after Ctrl-C, 143 after SIGTERM and 141 where nobody reads its output, as shells expect.
`BoundWarning` is a warning, not an error: a figure rests on an assumption that the user should state or correct.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143  # 128 and the number of the signal


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


class BoundWarning(UserWarning):
    """A fusion needs the lowest possible score of a ranking, nobody stated it, and one was assumed.

    >>> issubclass(BoundWarning, LexFuseError)
    False
    """


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


class GoneError(NotFoundError):
    """Something that was there, and is no more.

    >>> GoneError.status
    410
    """

    status = 410
    title = "Gone"


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


class AccessError(LexFuseError):
    """No key was given, or one that is not known.

    >>> AccessError.status
    401
    """

    exit_code = 8
    status = 401
    title = "Key needed"


class ForbiddenError(AccessError):
    """The key does not allow it.

    >>> ForbiddenError.status
    403
    """

    status = 403
    title = "Not allowed"


class ConflictError(LexFuseError):
    """What is to be changed has changed meanwhile; nothing was changed.

    >>> ConflictError.status
    412
    """

    exit_code = 9
    status = 412
    title = "Changed meanwhile"


class LimitError(LexFuseError):
    """More than is allowed in a while; `retry_after` says in how many seconds the same may work.

    >>> LimitError("60 requests a minute are allowed; wait 3 s", retry_after=3).retry_after
    3
    """

    exit_code = 10
    status = 429
    title = "Too many requests"

    def __init__(self, reason: str, *, retry_after: int | None = None) -> None:
        """Keep when to try again."""
        self.retry_after = retry_after
        super().__init__(reason)


class TooLargeError(LimitError):
    """A body or a query above the limit.

    >>> TooLargeError.status
    413
    """

    status = 413
    title = "Too large"


class OverloadError(LimitError):
    """Too much is asked at once, or it was not done in time.

    >>> OverloadError.status
    503
    """

    status = 503
    title = "Overloaded"


class TrainingError(LexFuseError):
    """A training cannot go on: the loss is no number, or the device is too small. What it had reached is kept.

    >>> TrainingError.exit_code
    11
    """

    exit_code = 11
    title = "Training failed"


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
