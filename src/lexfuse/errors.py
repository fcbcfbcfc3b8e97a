"""Every error that LexFuse raises on purpose. One tree sets the code, the exit status and the HTTP status of each.

A message says what is wrong, where, what was expected, and what to do. It may change between versions; `code` does not, so
programs compare codes or catch classes, and never read a message.

    LexFuseError                    exit  HTTP  code
    ├── ConfigError                    2   400  invalid-parameter       a parameter, flag or setting has an invalid value
    │   ├── UnknownParameterError      2   422  unknown-parameter       a parameter that does not exist
    │   ├── EmptyQuestionError         2   400  empty-question          a question, text or form without any word
    │   ├── TermWeightError            2   400  invalid-weight          the weight of a term is not a number above 0
    │   ├── NoTermsError               2   400  no-terms                no term is left to search for
    │   ├── OperatorError              2   400  invalid-operators       operators that leave nothing to rank by, or too many
    │   └── CursorError                2   400  invalid-cursor          not a cursor, or one of another question
    ├── DataError                      3   422  invalid-data            a file, line or record has invalid content
    │   └── UnreadableFileError        3   422  unreadable-file         a file from which no text can be read
    │       ├── EmptyFileError         3   422  empty-file              it has no text
    │       ├── ScannedFileError       3   422  scanned-file            it has images of pages only
    │       ├── LockedFileError        3   422  locked-file             it is encrypted
    │       ├── DamagedFileError       3   422  damaged-file            its format is broken
    │       ├── FileTypeError          3   422  unsupported-file-type   it has no text that can be read
    │       └── FileEncodingError      3   422  unsupported-encoding    its text is not UTF-8 or a declared encoding
    ├── NotFoundError                  4   404  not-found               a file, id or citation that does not exist
    │   ├── UnknownIndexError          4   404  unknown-index
    │   ├── UnknownProfileError        4   404  unknown-profile
    │   ├── UnknownChannelError        4   404  unknown-channel
    │   ├── UnknownDocumentError       4   404  unknown-document
    │   ├── UnknownFieldError          4   404  unknown-field
    │   └── GoneError                  4   410  gone                    something that no longer exists
    ├── StorageError                   5   507  storage-failure         writing failed: full disk, permissions, target in the way
    │   └── BusyError                  5   503  busy                    another process is writing; try again
    ├── FetchError                     6   502  download-failure        a registry did not deliver what was requested
    ├── MissingDependencyError         7   501  missing-dependency      an optional part is not installed
    ├── AccessError                    8   401  key-required            no key, or an unknown one
    │   └── ForbiddenError             8   403  forbidden               the key does not allow it
    ├── ConflictError                  9   412  precondition-failed     the document has changed in the meantime
    ├── LimitError                    10   429  rate-limit              too many requests
    │   ├── TooLargeError             10   413  too-large               a body, text or question above the limit
    │   └── OverloadError             10   503  overload                too many requests at once
    │       └── DeadlineError         10   503  timeout                 not done in time
    └── TrainingError                 11   500  training-failed         training cannot continue; its checkpoints are kept

LexFuseError itself has exit status 1, HTTP status 500 and the code ``internal-error``, as has any error that is not in the tree.
A command ends with 130 after Ctrl-C, 143 after SIGTERM and 141 when its output is closed, as shells expect.
`BoundWarning` is a warning, not an error: a figure rests on an assumption that the user should state or correct.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, TypeVar

Kind = TypeVar("Kind", bound="LexFuseError")

INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143  # 128 and the number of the signal


class LexFuseError(Exception):
    """The root: catch this to catch everything LexFuse raises on purpose.

    >>> try:
    ...     raise UnknownChannelError("no channel 'dense' in the index; it has bm25")
    ... except LexFuseError as error:
    ...     error.code, error.exit_code, error.status
    ('unknown-channel', 4, 404)
    """

    code: ClassVar[str] = "internal-error"
    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"


class BoundWarning(UserWarning):
    """A fusion needs the lowest possible score of a ranking, which was not stated, and assumes one."""


class ConfigError(LexFuseError):
    """A parameter, flag or setting has an invalid value."""

    code, exit_code, status, title = "invalid-parameter", 2, 400, "Invalid parameter"


class UnknownParameterError(ConfigError):
    """A parameter that does not exist; the message names those that do."""

    code, status, title = "unknown-parameter", 422, "Unknown parameter"


class EmptyQuestionError(ConfigError):
    """A question, text or form without any word."""

    code, title = "empty-question", "Empty question"


class TermWeightError(ConfigError):
    """The weight of a term is not a number above 0."""

    code = "invalid-weight"


class NoTermsError(ConfigError):
    """No term is left to search for."""

    code = "no-terms"


class OperatorError(ConfigError):
    """Operators of a question that leave no word to rank by, or are too many."""

    code, title = "invalid-operators", "Invalid operators"


class CursorError(ConfigError):
    """A text that is not a cursor, or a cursor of another question."""

    code, title = "invalid-cursor", "Invalid cursor"


class DataError(LexFuseError):
    """A file, line or record does not have the content that its format requires.

    >>> str(DataError("no field 'text'", path="corpus.jsonl", line=3))
    "corpus.jsonl, line 3: no field 'text'"
    """

    code, exit_code, status, title = "invalid-data", 3, 422, "Invalid data"

    def __init__(self, reason: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        """Keep the reason, the file and the line apart, so that callers can group by them."""
        self.reason = reason
        self.path = None if path is None else str(path)
        self.line = line
        super().__init__(f"{place(path, line)}{reason}")


class UnreadableFileError(DataError):
    """A file from which no text can be read."""

    code, title = "unreadable-file", "Unreadable file"


class EmptyFileError(UnreadableFileError):
    """A file without text."""

    code = "empty-file"


class ScannedFileError(UnreadableFileError):
    """A PDF that has images of pages and no text."""

    code = "scanned-file"


class LockedFileError(UnreadableFileError):
    """A PDF or another file that is encrypted."""

    code = "locked-file"


class DamagedFileError(UnreadableFileError):
    """A file whose format is broken."""

    code = "damaged-file"


class FileTypeError(UnreadableFileError):
    """A file of a type from which no text is read."""

    code = "unsupported-file-type"


class FileEncodingError(UnreadableFileError):
    """Text that is neither UTF-8 nor in an encoding that it declares."""

    code = "unsupported-encoding"


class NotFoundError(LexFuseError):
    """A file, id or citation that does not exist."""

    code, exit_code, status, title = "not-found", 4, 404, "Not found"


class UnknownIndexError(NotFoundError):
    """An index that does not exist."""

    code = "unknown-index"


class UnknownProfileError(NotFoundError):
    """A profile that does not exist."""

    code = "unknown-profile"


class UnknownChannelError(NotFoundError):
    """A channel that the index does not have."""

    code = "unknown-channel"


class UnknownDocumentError(NotFoundError):
    """A document that the index does not have."""

    code = "unknown-document"


class UnknownFieldError(NotFoundError):
    """A field that documents do not have."""

    code = "unknown-field"


class GoneError(NotFoundError):
    """Something that no longer exists."""

    code, status, title = "gone", 410, "Gone"


class StorageError(LexFuseError):
    """Writing failed; what was there before is untouched."""

    code, exit_code, status, title = "storage-failure", 5, 507, "Storage failure"


class BusyError(StorageError):
    """Another process is writing; nothing was changed, and a later attempt may succeed."""

    code, status, title = "busy", 503, "Busy"


class FetchError(LexFuseError):
    """A package registry did not deliver what was requested, or delivered other bytes."""

    code, exit_code, status, title = "download-failure", 6, 502, "Download failure"


class MissingDependencyError(LexFuseError):
    """An optional part of LexFuse is not installed; the message names the extra."""

    code, exit_code, status, title = "missing-dependency", 7, 501, "Missing dependency"


class AccessError(LexFuseError):
    """No key was given, or an unknown one."""

    code, exit_code, status, title = "key-required", 8, 401, "Key required"


class ForbiddenError(AccessError):
    """The key does not allow it."""

    code, status, title = "forbidden", 403, "Forbidden"


class ConflictError(LexFuseError):
    """The document has changed in the meantime; nothing was written."""

    code, exit_code, status, title = "precondition-failed", 9, 412, "Precondition failed"


class LimitError(LexFuseError):
    """Too many requests; `retry_after` is the number of seconds after which the next may succeed.

    >>> LimitError("60 requests a minute are allowed; wait 3 s", retry_after=3).retry_after
    3
    """

    code, exit_code, status, title = "rate-limit", 10, 429, "Too many requests"

    def __init__(self, reason: str, *, retry_after: int | None = None) -> None:
        """Keep when to try again."""
        self.retry_after = retry_after
        super().__init__(reason)


class TooLargeError(LimitError):
    """A body, text or question above the limit."""

    code, status, title = "too-large", 413, "Too large"


class OverloadError(LimitError):
    """Too many requests at once."""

    code, status, title = "overload", 503, "Overloaded"


class DeadlineError(OverloadError):
    """The work was not done in time, and was stopped."""

    code, title = "timeout", "Timeout"


class TrainingError(LexFuseError):
    """Training cannot continue: the loss is not a number, or the device is too small. Its checkpoints are kept."""

    code, exit_code, title = "training-failed", 11, "Training failed"


def error_classes(root: type[Kind]) -> Iterator[type[Kind]]:
    """A class of the tree and all classes below it, parents before children.

    >>> [kind.code for kind in error_classes(LimitError)]
    ['rate-limit', 'too-large', 'overload', 'timeout']
    """
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)


def place(path: str | Path | None, line: int | None) -> str:
    """Say where: ``file, line n: `` as far as it is known.

    >>> place("a.csv", 2)
    'a.csv, line 2: '
    """
    if path is None:
        return "" if line is None else f"line {line}: "
    return f"{path}: " if line is None else f"{path}, line {line}: "
