"""The tables of a published dataset: CSV, TSV, JSON, JSON Lines or Parquet, plain or gzipped.

The names of files and folders say which table holds the corpus, and which the questions of a split.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from lexfuse.data.archives import parse_json
from lexfuse.data.files import decode, existing, lines, read_bytes
from lexfuse.data.formats.json_text import from_json
from lexfuse.data.read_report import ReadReport, listed
from lexfuse.dependencies import Extra
from lexfuse.errors import DataError, NotFoundError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")

# An article of 40,000 words exceeds the csv module's default limit of 131,072 characters.
_LONGEST_FIELD = 1 << 30


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row with lower-case column names, and its location."""

    values: Mapping[str, Any]
    path: str
    number: int  # from 1, without the header
    line: int | None = None  # where the file has lines

    @property
    def place(self) -> str:
        """File and line, or file and record."""
        return f"{self.path}, record {self.number}" if self.line is None else f"{self.path}, line {self.line}"

    def error(self, reason: str, about: str = "") -> DataError:
        """A `DataError` at this row; ``about`` names a part of the row, so that equal reasons are counted together.

        >>> str(TableRow({}, "a.csv", 1, line=2).error("not in the corpus", "article '9'"))
        "a.csv, line 2, article '9': not in the corpus"
        """
        return DataError(reason, path=f"{self.place}, {about}" if about else self.place)

    def text(self, *names: str) -> str:
        """The first of these columns that is not empty, as stripped text; ``""`` if all are empty.

        >>> TableRow({"a": "", "b": " x "}, "a.csv", 1).text("a", "b")
        'x'
        """
        for name in names:
            value = self.values.get(name)
            if value is not None and (text := str(value).strip()):
                return text
        return ""

    def items(self, name: str) -> list[str]:
        """A column with a list, or with text like ``1,2,3`` or ``[1, 2, 3]``, as distinct strings.

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
    """Whether a file has the name of a table."""
    return path.name.lower().removesuffix(".gz").endswith(SUFFIXES)


def columns(path: str | Path) -> tuple[str, ...]:
    """Lower-case column names, from the header, the schema or the first record."""
    report = ReadReport(skip_bad=True)
    for row in rows(path, report):
        return tuple(row.values)
    return ()


def rows(path: str | Path, report: ReadReport, required: Sequence[str] = ()) -> Iterator[TableRow]:
    """The rows of a table; if a required column is missing, the error lists the columns found and expected.

    A file with an unknown suffix is read as CSV.
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
            if first:  # a different kind of table
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
                    reason = "different number of fields than the header"
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
        raise DataError(f"expected a list of records, found {type(value).__name__}", path=path)
    for number, record in enumerate(value, start=1):
        yield _record(record, path, number, None)


def _record(value: Any, path: Path, number: int, line: int | None) -> TableRow:
    if not isinstance(value, dict):
        at = f"{path}, record {number}" if line is None else path
        raise DataError(f"expected an object, found {type(value).__name__}", path=at, line=line)
    return TableRow({str(name).strip().lower(): item for name, item in value.items()}, str(path), number, line)


def _parquet_rows(path: Path) -> Iterator[TableRow]:
    Extra.PARQUET.require(f"reading {path}")
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


class DatasetPart(StrEnum):
    """The content of a table: the corpus, or the questions of one split."""

    CORPUS = "corpus"
    TRAIN = "train"
    DEV = "dev"
    TEST = "test"
    SYNTHETIC = "synthetic"


SPLITS = (DatasetPart.TRAIN, DatasetPart.DEV, DatasetPart.TEST, DatasetPart.SYNTHETIC)

# In this order: "corpus/train-0.parquet" is the corpus, "questions_synthetic" is no training split.
_WORDS = {
    DatasetPart.CORPUS: {"corpus", "articles", "article", "documents"},
    DatasetPart.SYNTHETIC: {"synthetic"},
    DatasetPart.TEST: {"test"},
    DatasetPart.DEV: {"dev", "validation", "valid", "val"},
    DatasetPart.TRAIN: {"train", "training"},
}
_LEFT_OUT = {"negatives", "negative"}  # training lists that some datasets include


def part_of(name: str) -> DatasetPart | None:
    """The content of a file, by the words of its path.

    >>> part_of("articles_fr.csv"), part_of("questions/validation-00000-of-00001.parquet"), part_of("negatives/train.json")
    (<DatasetPart.CORPUS: 'corpus'>, <DatasetPart.DEV: 'dev'>, None)
    """
    if is_left_out(name):
        return None
    words = set(re.findall(r"[a-z]+", name.lower()))
    return next((part for part, marks in _WORDS.items() if words & marks), None)


def is_left_out(name: str) -> bool:
    """Whether a file is known but not needed, such as lists of negatives for training."""
    return bool(set(re.findall(r"[a-z]+", name.lower())) & _LEFT_OUT)


def parts_in(path: str | Path) -> dict[DatasetPart, list[Path]]:
    """The tables of a folder by content; several files of one part (shards) are sorted by name."""
    folder = existing(path)
    found: dict[DatasetPart, list[Path]] = {}
    for file in tables_in(folder):
        part = part_of(str(file.relative_to(folder)))
        if part is not None:
            found.setdefault(part, []).append(file)
    return found


def tables_in(path: str | Path) -> list[Path]:
    """Every table in a folder and its subfolders, without hidden ones."""
    folder = existing(path)
    if not folder.is_dir():
        return []
    found = (file for file in sorted(folder.rglob("*")) if file.is_file() and is_table(file))
    return [file for file in found if not any(step.startswith(".") for step in file.relative_to(folder).parts)]


def unknown_table(file: Path, expected: str) -> DataError:
    """The error for a table that its importer does not know: the file, its columns and the expected ones.

    >>> str(unknown_table(Path("/dev/null"), "id, question, article_ids"))
    '/dev/null: not a table of this collection; columns found: none (no rows); expected: id, question, article_ids'
    """
    try:
        found = ", ".join(columns(file)) or "none (no rows)"
    except DataError as error:
        found = f"none ({error.reason})"
    return DataError(f"not a table of this collection; columns found: {found}; expected: {expected}", path=file)


def required_parts(path: str | Path, dataset: str, names: Sequence[str], report: ReadReport) -> dict[DatasetPart, list[Path]]:
    """The tables of a folder that must hold a corpus; otherwise `NotFoundError` names the expected files.

    A table whose name indicates neither the corpus nor a split is reported as bad: ignoring it would lose data silently.

    >>> required_parts("/dev/null", "BSARD", ["articles_fr.csv"], ReadReport())
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no BSARD corpus in '/dev/null'; expected articles_fr.csv (or .tsv, ...), found no table
    """
    parts = parts_in(path)
    if DatasetPart.CORPUS not in parts:
        seen = ", ".join(file.name for file in tables_in(path)[:8]) or "no table"
        others = ", ".join(suffix for suffix in SUFFIXES if suffix != ".csv")
        raise NotFoundError(
            f"no {dataset} corpus in {str(path)!r}; expected {', '.join(names)} (or {others}, gzipped or not), found {seen}"
        )
    placed = {file for files in parts.values() for file in files}
    for file in tables_in(path):
        if file not in placed and not is_left_out(str(file.relative_to(existing(path)))):
            report.bad(unknown_table(file, f"a file named like one of {', '.join(names)}"))
    return parts
