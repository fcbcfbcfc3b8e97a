r"""CSV and TSV with a header: canonical column names, lists and ``extra`` as JSON in their cells, ``\n`` line ends.

An empty cell means no value. A list may also be written ``A > B > C`` (headings) or ``A; B`` (other lists). The header shows what
separates the columns of a CSV file: a comma, a semicolon, a tab or a bar. A TSV file without a header is one of MS MARCO: id and
text, or id, URL, title and text, without quotes.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from lexfuse.data.columns.column_types import ColumnType, cell_type
from lexfuse.data.columns.table_options import DELIMITERS, PLAIN, REQUIRED, TableOptions, is_likely_header
from lexfuse.data.files import raw_lines, written_file
from lexfuse.data.formats.fields import LIST_FIELDS, NAMES, known_names
from lexfuse.data.formats.json_text import from_json, to_json
from lexfuse.data.read_report import ReadReport, listed
from lexfuse.errors import DataError

FIELD_LIMIT = 2**31 - 1  # a long judgment exceeds Python's default of 131,072 characters
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LISTS = frozenset().union(*(NAMES[field] for field in LIST_FIELDS))
_HEADINGS = frozenset(NAMES["headings"])
_NO_HEADER = {2: ("id", "text"), 4: ("id", "url", "title", "text")}  # MS MARCO passages and documents
_TAB = "\t"


@dataclass(frozen=True, slots=True)
class DelimitedText:
    """A text table; without a delimiter its header decides."""

    delimiter: str = ""

    def read_records(
        self, path: str | Path, fields: tuple[str, ...], report: ReadReport, options: TableOptions = PLAIN
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The records of a file with their lines; rows that are not CSV, or do not fit the header, are reported."""
        known = known_names(fields)
        columns, rows = self._table(path, report, options)
        renamed = options.names(columns)
        for line, cells in rows:
            try:
                yield line, _record(columns, cells, known, renamed)
            except DataError as error:
                report.bad(DataError(error.reason, path=path, line=line))

    def column_types(self, path: str | Path, fields: tuple[str, ...], options: TableOptions) -> dict[str, ColumnType]:
        """The type of every column that is metadata, from all of its cells; a column without any value is left out."""
        known = known_names(fields) | {"extra"}
        columns, rows = self._table(path, ReadReport(skip_bad=True), options)
        names = options.names(columns)
        places = [at for at, column in enumerate(columns) if names[column] not in known and names[column] not in options.types]
        types: dict[int, set[ColumnType]] = {at: set() for at in places}
        for _, cells in rows if places else ():
            for at, found in types.items():
                if len(cells) == len(columns) and cells[at] and ColumnType.TEXT not in found:
                    found.add(cell_type(cells[at], options.date_format))
        return {names[columns[at]]: found.pop() if len(found) == 1 else ColumnType.TEXT for at, found in types.items() if found}

    def write_records(self, records: Iterable[tuple[str, dict[str, Any]]], fields: tuple[str, ...], path: str | Path) -> None:
        """Write records, each with what it is for errors, with a column for each field."""
        columns, gap = (*fields, "extra"), self.delimiter or ","
        with written_file(path) as out:
            out.write(gap.join(columns).encode() + b"\n")
            for what, record in records:
                cells = (_cell(record.get(column, ""), what, gap) for column in columns)
                try:
                    out.write(gap.join(cells).encode() + b"\n")
                except UnicodeEncodeError as error:
                    raise DataError(f"{what} cannot be written as UTF-8: {error.reason}; remove the character") from None

    def _table(
        self, path: str | Path, report: ReadReport, options: TableOptions
    ) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
        """The columns and the rows of a file."""
        delimiter = options.delimiter or self.delimiter or _delimiter(path, options)
        rows = _rows(path, report, delimiter, quoted=True)
        line, header = next(rows, (1, []))
        columns = [name.strip() for name in header]
        if delimiter == _TAB and not options.columns and _has_no_header(columns):
            rows = _rows(path, report, delimiter, quoted=False)
            columns = list(_NO_HEADER[len(columns)])
            report.note(f"no header; the columns are read as {', '.join(columns)}", path=path)
            first = next(rows)
            return columns, chain([first], rows)
        _check_header(columns, path, line, options)
        return columns, rows


CSV, TSV = DelimitedText(), DelimitedText(_TAB)


def _delimiter(path: str | Path, options: TableOptions) -> str:
    """What separates the columns of the header; `DataError` if that is not clear."""
    header = next(_text_lines(path), "").rstrip("\r\n")
    found = {mark: columns for mark in DELIMITERS if len(columns := _cells(header, mark)) > 1}
    wanted = [{options.columns[name]} if name in options.columns else set(NAMES[name]) for name in REQUIRED]
    fitting = [mark for mark, columns in found.items() if all(names & {one.strip() for one in columns} for names in wanted)]
    if len(fitting) == 1 or len(found) < 2:
        return next(iter(fitting or found), ",")
    shown = " or ".join(f"{DELIMITERS[mark]}s ({len(found[mark])} columns)" for mark in fitting or found)
    raise DataError(
        f"the columns of the header are separated by {shown}: which is not clear; give --delimiter", path=path, line=1
    )


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # which is reported where the rows are read
        return []


def _has_no_header(cells: list[str]) -> bool:
    if len(cells) not in _NO_HEADER or is_likely_header(cells):
        return False
    return len(cells) == 2 or re.match(r"https?://", cells[1]) is not None


def _rows(path: str | Path, report: ReadReport, delimiter: str, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    """The first line and the cells of each row; rows that are not CSV or not UTF-8 are reported."""
    # Never reset: that would break a reader in another thread.
    csv.field_size_limit(FIELD_LIMIT)
    reader = csv.reader(
        _text_lines(path), strict=True, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    )
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


def _check_header(columns: list[str], path: str | Path, line: int, options: TableOptions) -> None:
    twice = sorted(name for name, times in Counter(columns).items() if times > 1)
    if twice:
        raise DataError(f"repeated columns in the header: {listed(twice)}; rename them", path=path, line=line)
    try:
        options.check(columns)
    except DataError as error:
        raise DataError(error.reason, path=path, line=line) from None


def _record(columns: list[str], cells: list[str], known: frozenset[str], renamed: Mapping[str, str]) -> dict[str, Any]:
    if len(cells) != len(columns):
        raise DataError(f"the row has {len(cells)} columns, the header {len(columns)}; check the quotes")
    record: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=True):
        name = renamed[column]
        if not cell and name not in NAMES["text"]:
            continue
        if name in known and name in _LISTS:
            record[column] = _list(cell, " > " if name in _HEADINGS else ";")
        elif name == "extra" and cell.startswith("{"):
            record[column] = _extra(cell)
        else:
            record[column] = cell
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


def _cell(value: Any, what: str, delimiter: str) -> str:
    text = value if isinstance(value, str) else to_json(value, what).decode()
    # Not csv.writer: Python versions differ on quoting a lone carriage return.
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in f'{delimiter}"\r\n') else text
