"""Parquet through pyarrow: text as strings, lists as lists, dates as dates, ``extra`` as JSON text.

Files of other programs are read if the type of each column fits its field: integers as ids and article numbers,
dictionary-encoded and large strings, timestamps as dates. Unknown columns go to ``extra``.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from lexfuse.data.columns.table_options import PLAIN, TableOptions
from lexfuse.data.files import read_bytes, written_file
from lexfuse.data.formats.fields import DATE_FIELDS, LIST_FIELDS, NAMES
from lexfuse.data.formats.json_text import from_json, to_json
from lexfuse.data.read_report import ReadReport
from lexfuse.dependencies import Extra
from lexfuse.errors import DataError

ROWS = 4096  # per row group: judgments of a megabyte each still fit in memory


def read_records(
    path: str | Path, fields: tuple[str, ...], report: ReadReport, options: TableOptions = PLAIN
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records of a file with their rows, counted from 1; the type of a column must fit its field."""
    Extra.PARQUET.require(f"reading {path}")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(read_bytes(path)))
        known = {name: field for field in fields for name in NAMES[field]}
        _check(file.schema_arrow, known, path, options)
        row = 0
        for batch in file.iter_batches(batch_size=ROWS):
            for values in batch.to_pylist():
                row += 1
                try:
                    yield row, _record(values, known)
                except DataError as error:
                    report.bad(DataError(error.reason, path=path, line=row))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"cannot be read as Parquet: {reason}; write the file again", path=path) from None


def write_records(records: Iterable[tuple[str, dict[str, Any]]], fields: tuple[str, ...], path: str | Path) -> None:
    """Write records, each with what it is for errors; the same records and pyarrow give the same bytes."""
    Extra.PARQUET.require(f"writing {path}")
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(fields)
    rows = iter(records)
    with written_file(path) as out, pq.ParquetWriter(out, schema, compression="zstd") as writer:
        while batch := list(islice(rows, ROWS)):
            typed = [_typed(what, record, fields) for what, record in batch]
            writer.write_batch(pa.RecordBatch.from_pylist(typed, schema=schema))


def _check(schema: Any, known: Mapping[str, str], path: str | Path, options: TableOptions) -> None:
    """Check that the type of every column fits its field."""
    from pyarrow import types

    try:
        options.check(schema.names)
    except DataError as error:
        raise DataError(error.reason, path=path) from None
    renamed = options.names(schema.names)
    for column in schema:
        accepted, expected = _expected(renamed[column.name], known, types)
        type_ = column.type.value_type if types.is_dictionary(column.type) else column.type
        if not types.is_null(type_) and not accepted(type_):
            reason = f"column {column.name!r} has the type {column.type}, expected {expected}; convert it first"
            raise DataError(reason, path=path)


def _expected(name: str, known: Mapping[str, str], types: Any) -> tuple[Callable[[Any], bool], str]:
    """The type that a column must have: a test, and its name for the message."""

    def text(type_: Any) -> bool:
        return bool(types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_))

    def word(type_: Any) -> bool:
        return text(type_) or bool(types.is_integer(type_))

    def words(type_: Any) -> bool:
        return word(type_.value_type) if _is_list(type_, types) else word(type_)

    def date(type_: Any) -> bool:
        return text(type_) or bool(types.is_date(type_) or types.is_timestamp(type_))

    def structure(type_: Any) -> bool:
        return _is_json(type_, types)

    field = known.get(name, "")
    if field in ("id", "number"):
        return word, "string or integer"
    if field in LIST_FIELDS:
        return words, "list<string>"
    if field in DATE_FIELDS:
        return date, "date32, timestamp or string"
    return (text, "string") if field else (structure, "what JSON can hold: text, numbers, booleans, dates, lists, structs")


def _is_list(type_: Any, types: Any) -> bool:
    return bool(types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_))


def _is_json(type_: Any, types: Any) -> bool:
    if types.is_dictionary(type_):
        return _is_json(type_.value_type, types)
    if _is_list(type_, types):
        return _is_json(type_.value_type, types)
    if types.is_struct(type_):
        return all(_is_json(type_.field(at).type, types) for at in range(type_.num_fields))
    tests = ("null", "boolean", "integer", "floating", "string", "large_string", "string_view", "date", "timestamp")
    return any(getattr(types, f"is_{test}")(type_) for test in tests)


def _record(values: dict[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    record = {}
    for name, value in values.items():
        if name in known:
            record[name] = value
        elif name == "extra" and isinstance(value, str) and value.startswith("{"):
            record[name] = from_json(value)
        elif value is not None:
            record[name] = _json_value(value)
    return record


def _json_value(value: Any) -> Any:
    """A value of an unknown column as JSON: dates and times as ISO text, NaN as null."""
    if isinstance(value, dict):
        return {name: _json_value(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_json_value(inner) for inner in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _schema(fields: tuple[str, ...]) -> Any:
    import pyarrow as pa

    def type_of(field: str) -> Any:
        if field in LIST_FIELDS:
            return pa.list_(pa.string())
        return pa.date32() if field in DATE_FIELDS else pa.string()

    required = ("id", "text")
    columns = [pa.field(field, type_of(field), nullable=field not in required) for field in fields]
    return pa.schema([*columns, pa.field("extra", pa.string())])


def _typed(what: str, record: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """A record with the types of its schema; text that UTF-8 cannot encode is refused."""
    extra = record.pop("extra", None)
    to_json(record, what)
    typed = record | {field: datetime.date.fromisoformat(record[field]) for field in DATE_FIELDS if field in record}
    typed |= {field: [] for field in LIST_FIELDS if field in fields and field not in record}
    return typed | ({"extra": to_json(extra, what).decode()} if extra else {})
