"""A JSON file with a list of objects, one for each document or query; the fields are those of JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.archives import parse_json
from lexfuse.data.columns.table_options import PLAIN, TableOptions
from lexfuse.data.files import read_bytes, written_file
from lexfuse.data.formats.json_text import to_json
from lexfuse.data.formats.jsonl import flat_record, line_record
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError


def read_records(
    path: str | Path, fields: tuple[str, ...], report: ReadReport, options: TableOptions = PLAIN
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records of a file with their places in the list, from 1; one that is not an object is reported."""
    values = parse_json(read_bytes(path), str(path))
    if not isinstance(values, list):
        what = f"an object with {', '.join(list(values)[:8])}" if isinstance(values, dict) else type(values).__name__
        raise DataError(f"expected a list of objects, [{{…}}, …], got {what}", path=path)
    for number, value in enumerate(values, start=1):
        try:
            record = flat_record(value)
            if options.columns:
                options.check_record(record)
        except DataError as error:
            report.bad(DataError(error.reason, path=f"{path}, record {number}"))
            continue
        yield number, record


def write_records(records: Iterable[tuple[str, dict[str, Any]]], fields: tuple[str, ...], path: str | Path) -> None:
    """Write records as a list, one in a line."""
    with written_file(path) as out:
        out.write(b"[")
        for number, (what, record) in enumerate(records):
            out.write((b",\n" if number else b"\n") + to_json(line_record(record, fields), what))
        out.write(b"\n]\n")
