"""JSON Lines as in BEIR: ``{"_id", "title", "text", "metadata"}`` for documents, without title for queries.

Metadata may also be at the top level. A field with different values in both places is an error; only a title, text or id inside
the metadata is kept in ``extra``, since it is not the document's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.columns.table_options import PLAIN, TableOptions
from lexfuse.data.files import decode, lines, written_file
from lexfuse.data.formats.fields import known_names
from lexfuse.data.formats.json_text import from_json, to_json
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError

_OWN = known_names(["id", "title", "text"])


def read_records(
    path: str | Path, fields: tuple[str, ...], report: ReadReport, options: TableOptions = PLAIN
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records of a file with their lines; a line that is not a JSON object, or lacks a named column, is reported."""
    for number, raw in lines(path):
        try:
            text = decode(raw, path=path, line=number)
            record = flat_record(from_json(text)) if text.strip() else None
            if record is not None and options.columns:
                options.check_record(record)
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=number))
            continue
        if record is not None:
            yield number, record


def write_records(records: Iterable[tuple[str, dict[str, Any]]], fields: tuple[str, ...], path: str | Path) -> None:
    """Write records, each with what it is for errors."""
    with written_file(path) as out:
        for what, record in records:
            out.write(to_json(line_record(record, fields), what) + b"\n")


def line_record(record: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """A flat record as one object: id, title, text, and all else as metadata."""
    not_flat = known_names(fields) | {"metadata", "extra"}
    line: dict[str, Any] = {"_id": record.pop("id")}
    line |= {field: record.pop(field) for field in ("title", "text") if field in fields}
    extra = record.pop("extra", {})
    # An extra name that would be read as a known field stays in ``extra``; see `fields.document_of`.
    nested = {name: value for name, value in extra.items() if name in not_flat}
    metadata = record | {name: value for name, value in extra.items() if name not in not_flat}
    line["metadata"] = metadata | ({"extra": nested} if nested else {})
    return line


def flat_record(value: Any) -> dict[str, Any]:
    """Merge the metadata with id, title and text into one level; what is no object is a `DataError`."""
    if not isinstance(value, dict):
        raise DataError(f'expected a JSON object like {{"_id": …, "text": …}}, got {_type(value)}')
    metadata = value.pop("metadata", None)
    if metadata is None:
        return value
    if not isinstance(metadata, dict):
        raise DataError(f"field 'metadata': expected an object, got {_type(metadata)}")
    kept = {}
    for name, inner in metadata.items():
        if name not in value:
            value[name] = inner
        elif value[name] != inner:
            if name not in _OWN:
                raise DataError(f"field {name!r} differs between the top level and the metadata; keep one")
            kept[name] = inner
    if kept:
        extra = value.get("extra") or {}
        value["extra"] = kept | (extra if isinstance(extra, dict) else {"extra": extra})
    return value


def _type(value: Any) -> str:
    return {list: "a list", str: "text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
