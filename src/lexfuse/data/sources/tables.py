"""Rows of a published table, whatever file it comes in: CSV, TSV, JSON, JSON Lines or Parquet, plain or gzipped."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexfuse.data.archives import parse_json
from lexfuse.data.files import decode, existing, lines, read_bytes
from lexfuse.data.formats.json_text import from_json
from lexfuse.data.read_report import ReadReport, listed
from lexfuse.errors import DataError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")

# A law article of 40,000 words is longer than the csv module's default limit of 131,072 characters.
_LONGEST_FIELD = 1 << 30


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row, its column names in lower case, and where it stands.

    >>> TableRow({"id": 7, "text": None}, "a.csv", 2, line=3).text("id")
    '7'
    """

    values: Mapping[str, Any]
    path: str
    number: int  # from 1, the header not counted
    line: int | None = None  # where the file has lines

    @property
    def place(self) -> str:
        """File and line, or file and record.

        >>> TableRow({}, "a.parquet", 2).place
        'a.parquet, record 2'
        """
        return f"{self.path}, record {self.number}" if self.line is None else f"{self.path}, line {self.line}"

    def error(self, reason: str, about: str = "") -> DataError:
        """A `DataError` at this row; ``about`` names the part of it, so that equal reasons are counted together.

        >>> str(TableRow({}, "a.csv", 1, line=2).error("not in the corpus", "article '9'"))
        "a.csv, line 2, article '9': not in the corpus"
        """
        return DataError(reason, path=f"{self.place}, {about}" if about else self.place)

    def text(self, *names: str) -> str:
        """The first of these columns that holds something, as stripped text; ``""`` if none does.

        >>> TableRow({"a": "", "b": " x "}, "a.csv", 1).text("a", "b")
        'x'
        """
        for name in names:
            value = self.values.get(name)
            if value is not None and (text := str(value).strip()):
                return text
        return ""

    def items(self, name: str) -> list[str]:
        """A column that is a list, or a text like ``1,2,3`` or ``[1, 2, 3]``, as texts, each once.

        >>> TableRow({"article_ids": "[3, 1,3]"}, "a.csv", 1).items("article_ids")
        ['3', '1']
        """
        value = self.values.get(name)
        if value is None or isinstance(value, float):  # pandas writes a missing list as NaN
            return []
        parts = value if isinstance(value, list | tuple) else str(value).strip().strip("[]").split(",")
        texts = (str(part).strip().strip("'\"") for part in parts)
        return list(dict.fromkeys(text for text in texts if text))


def is_table(path: Path) -> bool:
    """Whether a file's name is that of a table.

    >>> is_table(Path("a.csv.gz")), is_table(Path("a.txt"))
    (True, False)
    """
    return path.name.lower().removesuffix(".gz").endswith(SUFFIXES)


def columns(path: str | Path) -> tuple[str, ...]:
    """Names of the columns in lower case, from the header, the schema or the first record.

    >>> columns("/dev/null")
    ()
    """
    report = ReadReport(skip_bad=True)
    for row in rows(path, report):
        return tuple(row.values)
    return ()


def rows(path: str | Path, report: ReadReport, required: Sequence[str] = ()) -> Iterator[TableRow]:
    """The rows of a table; without a required column it is refused, with the names found and expected.

    A file without a known suffix is read as CSV.

    >>> list(rows("/dev/null", ReadReport()))
    []
    """
    path = existing(path)
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".parquet"):
        found = _parquet_rows(path)
    elif name.endswith((".jsonl", ".ndjson")):
        found = _json_lines(path, report)
    elif name.endswith(".json"):
        found = _json_records(path)
    else:
        found = _csv_rows(path, report, "\t" if name.endswith(".tsv") else ",")
    first = True
    for row in found:
        if missing := [column for column in required if column not in row.values]:
            error = DataError(
                f"no column {', '.join(map(repr, missing))}; found {listed(list(row.values)) or 'none'}; "
                f"expected {', '.join(required)}",
                path=path if first else row.place,
            )
            if first:  # the whole table is of another kind
                raise error
            report.bad(error)
            continue
        first = False
        yield row


def _csv_rows(path: Path, report: ReadReport, delimiter: str) -> Iterator[TableRow]:
    csv.field_size_limit(_LONGEST_FIELD)
    raw = read_bytes(path).splitlines(keepends=True) if path.stat().st_size else []
    reader = csv.reader(
        (decode(line, path=path, line=number) for number, line in enumerate(raw, start=1)), delimiter=delimiter, strict=True
    )
    header: list[str] | None = None
    start, number = 1, 0
    try:
        for fields in reader:
            line, start = start, reader.line_num + 1
            if header is None:
                header = [name.strip().lower() for name in fields]
            elif fields:
                number += 1
                if len(fields) != len(header):
                    reason = "another number of fields than the header has"
                    report.bad(DataError(reason, path=f"{path}, line {line}, {len(fields)} instead of {len(header)}"))
                    continue
                yield TableRow(dict(zip(header, fields, strict=True)), str(path), number, line)
    except csv.Error as error:
        raise DataError(f"not valid CSV ({error}); is a quote not closed?", path=path, line=start) from None


def _json_lines(path: Path, report: ReadReport) -> Iterator[TableRow]:
    for number, (line, raw) in enumerate(lines(path), start=1):
        decode(raw, path=path, line=line)
        try:
            value = from_json(raw)
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=line))
            continue
        yield _record(value, path, number, line)


def _json_records(path: Path) -> Iterator[TableRow]:
    value = parse_json(read_bytes(path), str(path))
    if not isinstance(value, list):
        raise DataError(f"a list of records was expected, found {type(value).__name__}", path=path)
    for number, record in enumerate(value, start=1):
        yield _record(record, path, number, None)


def _record(value: Any, path: Path, number: int, line: int | None) -> TableRow:
    if not isinstance(value, dict):
        at = f"{path}, record {number}" if line is None else path
        raise DataError(f"an object was expected, found {type(value).__name__}", path=at, line=line)
    return TableRow({str(name).strip().lower(): item for name, item in value.items()}, str(path), number, line)


def _parquet_rows(path: Path) -> Iterator[TableRow]:
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            for batch in table.iter_batches():
                for values in batch.to_pylist():
                    number += 1
                    yield _record(values, path, number, None)
    except pyarrow.ArrowException as error:
        raise DataError(f"not a readable Parquet file ({error}); fetch it again", path=path) from None
