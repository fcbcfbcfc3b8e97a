"""A document as a row of the catalog and back, without loss; values that cannot be stored are refused before writing."""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.json_text import from_json, to_json
from lexfuse.errors import DataError

WORDS = ("title", "language", "kind", "code", "number", "court", "status")
DATES = ("date", "valid_from", "valid_to")
LISTS = ("headings", "identifiers", "citations")
SHORT = (*WORDS, *DATES, *LISTS)  # fields for filters
LONG = ("extra", "text")  # in a separate table, so that reading the others is fast
COLUMNS = (*SHORT, *LONG)
OPTIONAL = (*DATES, *LISTS, "extra")  # null if empty

DocumentRow = tuple[str | None, ...]  # the id, then COLUMNS


def row_of(document: Document) -> DocumentRow:
    r"""The row of a document: text unchanged, dates as ISO text, lists and extra as JSON.

    >>> row_of(Document("a", text="la loi", headings=("Livre I",)))[-3:]
    (None, None, 'la loi')
    >>> row_of(Document("a", text="\ud800"))
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: document 'a': field 'text' has a lone surrogate (\ud800 at position 0); ...
    """
    if not isinstance(document.id, str) or not document.id:
        raise DataError(f"a document's id must be a text of at least one character, got {document.id!r}")
    words, text = _words(document), document.text
    others = (*(_day(document, name) for name in DATES), *(_list(document, name) for name in LISTS), _extra(document))
    row = (document.id, *words, *others, text)
    try:
        "".join((document.id, *words, *filter(None, others), text)).encode()
    except (UnicodeEncodeError, TypeError):
        _refuse(row)
    return row


def document_of(row: Sequence[Any]) -> Document:
    """The document of a row; the inverse of `row_of`."""
    values = dict(zip(("id", *COLUMNS), row, strict=True))
    try:
        check_types(row)
        for name in LISTS:
            values[name] = texts_of(values[name])
        for name in DATES:
            values[name] = datetime.date.fromisoformat(values[name]) if values[name] else None
        values["extra"] = from_json(values["extra"]) if values["extra"] else {}
        values["kind"], values["status"] = DocumentKind(values["kind"]), DocumentStatus(values["status"])
    except (ValueError, TypeError, DataError) as error:
        raise DataError(f"document {row[0]!r} is damaged in the catalog ({error}); add it again with update") from None
    return Document(**values)


def texts_of(stored: str | None) -> tuple[str, ...]:
    """The strings of a list stored in the catalog.

    >>> texts_of('["Livre I","Titre II"]'), texts_of(None)
    (('Livre I', 'Titre II'), ())
    >>> texts_of("[1]")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: a list in the catalog is damaged ('[1]'); restore the catalog or build the index again
    """
    values: Any = ()
    try:
        values = from_json(stored) if stored else ()
    except DataError:
        values = None
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        reason = f"a list in the catalog is damaged ({str(stored)[:100]!r}); restore the catalog or build the index again"
        raise DataError(reason)
    return tuple(values)


def check_types(row: Sequence[Any]) -> None:
    """A `ValueError` for a row that `row_of` cannot make: words are text, optional fields are text or null.

    >>> check_types(row_of(Document("a", headings=("Livre I",))))
    >>> check_types((3, *row_of(Document("a"))[1:]))
    Traceback (most recent call last):
    ...
    ValueError: id must be text, got 3
    """
    for name, value in zip(("id", *COLUMNS), row, strict=True):
        if not isinstance(value, str) and not (value is None and name in OPTIONAL):
            raise ValueError(f"{name} must be text, got {value!r}")


def checksum_of(row: Sequence[str | None]) -> int:
    """A checksum over the whole row: SQLite has none, so a changed bit in a text would go unnoticed."""
    return zlib.crc32("\x1f".join(value or "" for value in row).encode("utf-8", "surrogatepass"))


def _words(document: Document) -> list[str]:
    words = list(_WORDS(document))
    for name, known in _LABELS.items():
        at = WORDS.index(name)
        if words[at] not in known:
            allowed = ", ".join(map(repr, known.values()))
            raise DataError(f"document {document.id!r}: {name} must be one of {allowed}; got {words[at]!r}")
        words[at] = known[words[at]]
    return words


def _day(document: Document, name: str) -> str | None:
    value = getattr(document, name)
    if value is not None and not isinstance(value, datetime.date):
        raise DataError(f"document {document.id!r}: field {name!r} must be a date, got {value!r}")
    return None if value is None else datetime.date.isoformat(value)  # only the day of a time


def _list(document: Document, name: str) -> str | None:
    value = getattr(document, name)
    if isinstance(value, str) or not all(isinstance(item, str) for item in value):
        raise DataError(f"document {document.id!r}: field {name!r} must be a list of texts, got {value!r}")
    return to_json(list(value), f"document {document.id!r}").decode() if value else None


def _extra(document: Document) -> str | None:
    if not isinstance(document.extra, Mapping):
        raise DataError(f"document {document.id!r}: field 'extra' must map names to values, got {document.extra!r}")
    return to_json(dict(document.extra), f"document {document.id!r}").decode() if document.extra else None


def _refuse(row: Sequence[Any]) -> None:
    """Name the field that SQLite cannot store: a value that is not text, or a lone surrogate."""
    for name, value in zip(("id", *COLUMNS), row, strict=True):
        if not isinstance(value, str) and name in (*WORDS, "text"):
            raise DataError(f"document {row[0]!r}: field {name!r} must be text, got {value!r}")
        try:
            (value or "").encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x} at position {error.start}"
            reason = f"field {name!r} has a lone surrogate ({half}); decode the source as UTF-8 again"
            raise DataError(f"document {row[0]!r}: {reason}") from None


_WORDS = attrgetter(*WORDS)
_LABELS: dict[str, dict[Any, str]] = {
    "kind": {kind: kind.value for kind in DocumentKind},
    "status": {status: status.value for status in DocumentStatus},
}
