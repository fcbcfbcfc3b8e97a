r"""CSV with a header: canonical column names, lists and ``extra`` as JSON in their cells, ``\n`` line ends.

An empty cell means no value. A list may also be written ``A > B > C`` (headings) or ``A; B`` (other lists).
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.files import raw_lines, written_file
from lexfuse.data.formats.fields import DOCUMENT_FIELDS, LIST_FIELDS, NAMES, known_names
from lexfuse.data.formats.json_text import from_json, to_json
from lexfuse.data.read_report import ReadReport, listed
from lexfuse.errors import DataError

FIELD_LIMIT = 2**31 - 1  # a long judgment exceeds Python's default of 131,072 characters
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LISTS = frozenset().union(*(NAMES[field] for field in LIST_FIELDS))
_HEADINGS = frozenset(NAMES["headings"])


def read_records(path: str | Path, fields: tuple[str, ...], report: ReadReport) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records of a file with their lines; rows that are not CSV, or do not fit the header, are reported."""
    known = known_names(fields)
    rows = _rows(path, report)
    line, header = next(rows, (1, []))
    columns = [name.strip() for name in header]
    _check_header(columns, path, line)
    for line, cells in rows:
        try:
            yield line, _record(columns, cells, known)
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=line))


def write_records(records: Iterable[tuple[str, dict[str, Any]]], fields: tuple[str, ...], path: str | Path) -> None:
    """Write records, each with what it is for errors, with a column for each field."""
    columns = (*fields, "extra")
    with written_file(path) as out:
        out.write(",".join(columns).encode() + b"\n")
        for what, record in records:
            cells = (_cell(record.get(column, ""), what) for column in columns)
            try:
                out.write(",".join(cells).encode() + b"\n")
            except UnicodeEncodeError as error:
                raise DataError(f"{what} cannot be written as UTF-8: {error.reason}; remove the character") from None


def _rows(path: str | Path, report: ReadReport) -> Iterator[tuple[int, list[str]]]:
    """The first line and the cells of each row; rows that are not CSV or not UTF-8 are reported."""
    # Never reset: that would break a reader in another thread.
    csv.field_size_limit(FIELD_LIMIT)
    reader = csv.reader(_text_lines(path), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            report.bad(DataError(f"not valid CSV: {error}", path=path, line=line))
            continue
        if not cells:
            continue
        try:
            "".join(cells).encode()
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) - 0xDC00
            reason = f"byte {byte:#04x} in the row is not UTF-8; convert the file to UTF-8 first"
            report.bad(DataError(reason, path=path, line=line))
            continue
        yield line, cells


def _text_lines(path: str | Path) -> Iterator[str]:
    """Lines as text; bytes that are not UTF-8 become surrogates, so that only their row is refused."""
    for number, raw in raw_lines(path):
        yield (raw.removeprefix(BYTE_ORDER_MARK) if number == 1 else raw).decode("utf-8", "surrogateescape")


def _check_header(columns: list[str], path: str | Path, line: int) -> None:
    twice = sorted(name for name, times in Counter(columns).items() if times > 1)
    if twice:
        raise DataError(f"repeated columns in the header: {listed(twice)}; rename them", path=path, line=line)
    missing = [field for field in ("id", "text") if not set(NAMES[field]) & set(columns)]
    if missing:
        reason = (
            f"no column {listed(missing)}: found {listed(columns) or 'no header'}; expected 'id' and 'text', and where known "
            f"{listed([field for field in DOCUMENT_FIELDS if field not in ('id', 'text')])}, separated by commas"
        )
        raise DataError(reason, path=path, line=line)


def _record(columns: list[str], cells: list[str], known: frozenset[str]) -> dict[str, Any]:
    if len(cells) != len(columns):
        raise DataError(f"the row has {len(cells)} columns, the header {len(columns)}; check the quotes")
    record: dict[str, Any] = {}
    for name, cell in zip(columns, cells, strict=True):
        if not cell and name not in NAMES["text"]:
            continue
        if name in known and name in _LISTS:
            record[name] = _list(cell, " > " if name in _HEADINGS else ";")
        elif name == "extra" and cell.startswith("{"):
            record[name] = _extra(cell)
        else:
            record[name] = cell
    return record


def _list(cell: str, separator: str) -> list[Any]:
    if cell.startswith("["):
        try:
            value = from_json(cell)
        except DataError:
            value = None  # "[X] > Titre I" is not JSON
        if isinstance(value, list):
            return value
    return [part for piece in cell.split(separator) if (part := piece.strip())]


def _extra(cell: str) -> Any:
    try:
        return from_json(cell)
    except DataError as error:
        raise DataError(f"column 'extra': {error.reason}") from None


def _cell(value: Any, what: str) -> str:
    text = value if isinstance(value, str) else to_json(value, what).decode()
    # Not csv.writer: Python versions differ on quoting a lone carriage return.
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text
