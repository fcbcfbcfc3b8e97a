"""Read and write corpora and queries; the format follows from the file name.

Unreadable records and repeated ids are refused with their location. An empty document is kept and noted. A corpus without
documents is an error.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lexfuse.data.columns.column_types import ColumnType
from lexfuse.data.columns.date_order import DateOrder
from lexfuse.data.columns.table_options import PLAIN, TableOptions, missing_column
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.document_history import versions_of
from lexfuse.data.files import existing
from lexfuse.data.formats import json_array, jsonl, parquet
from lexfuse.data.formats.csv_file import CSV, TSV, DelimitedText
from lexfuse.data.formats.fields import DOCUMENT_FIELDS, QUERY_FIELDS, document_of, document_record, query_of, query_record
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, NotFoundError

Row = TypeVar("Row", Document, Query)


class FileFormat(Protocol):
    """The module of one format: it reads and writes flat records, see `lexfuse.data.formats.fields`."""

    def read_records(
        self, path: str | Path, fields: tuple[str, ...], report: ReadReport, options: TableOptions = PLAIN
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The records of a file with the names of its own columns, each with its line (or row, from 1)."""

    def write_records(self, records: Iterable[tuple[str, dict[str, Any]]], fields: tuple[str, ...], path: str | Path) -> None:
        """Write records, each with what it is for errors; the same records give the same bytes."""


FORMATS: Mapping[str, FileFormat] = {
    ".jsonl": jsonl,
    ".ndjson": jsonl,
    ".jsonlines": jsonl,
    ".json": json_array,
    ".csv": CSV,
    ".tsv": TSV,
    ".parquet": parquet,
}


def read_corpus(path: str | Path, report: ReadReport | None = None, options: TableOptions = PLAIN) -> Corpus:
    """Read a corpus from a JSON Lines, JSON, CSV, TSV or Parquet file, plain or gzipped, or from a BEIR folder.

    ``options`` name the columns of a table that has others. A column that is no field of documents is metadata.

    >>> path = folder / "corpus.jsonl"
    >>> _ = path.write_text('{"_id": "a", "text": "Le préavis…", "metadata": {"court": "Cass. soc."}}')
    >>> read_corpus(folder).court
    ('Cass. soc.',)
    """
    return Corpus.of(read_documents(path, report, options))


def read_documents(path: str | Path, report: ReadReport | None = None, options: TableOptions = PLAIN) -> Iterator[Document]:
    """The documents of a corpus one by one, for a corpus that is larger than the memory; see `read_corpus`.

    >>> next(read_documents("examples/articles.csv")).id
    'lib-1'
    """
    report, path = report or ReadReport(), corpus_file(path)
    empty = True
    options = _typed(path, report, options)
    for line, document in _rows(path, DOCUMENT_FIELDS, document_of, report, options):
        if not document.title.strip() and not document.text.strip() and not (document.valid_from and document.valid_to):
            report.note("document without title and text, kept", path=path, line=line)
        empty = False
        yield document
    if empty:
        skipped = f" ({report.skipped:,} bad records were skipped)" if report.skipped else ""
        raise DataError(f"has no documents{skipped}; a corpus needs at least one", path=path)


def corpus_file(path: str | Path) -> Path:
    """The file that a corpus is read from: the path itself, or the one in a BEIR folder."""
    return _file(path, "corpus.jsonl")


def read_queries(path: str | Path, report: ReadReport | None = None) -> Queries:
    r"""Read queries from a JSON Lines, CSV or Parquet file, plain or gzipped, or from a BEIR folder.

    >>> _ = (folder / "queries.csv").write_text("id,text\nq,préavis\n")
    >>> read_queries(folder / "queries.csv").text
    ('préavis',)
    """
    report, path = report or ReadReport(), _file(path, "queries.jsonl")
    queries = []
    for line, query in _rows(path, QUERY_FIELDS, query_of, report):
        if not query.text.strip():
            report.note("query without text, kept", path=path, line=line)
        queries.append(query)
    if not queries:
        report.note("no queries", path=path)
    return Queries.of(queries)


def write_corpus(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as one file, in the format of its suffix, a record per version; `write_collection` writes folders.

    >>> write_corpus(Corpus.of([Document("a", text="un", headings=("I", "II"))]), folder / "c.parquet")
    >>> read_corpus(folder / "c.parquet").headings
    (('I', 'II'),)
    """
    write_documents(corpus, path)


def write_documents(documents: Iterable[Document], path: str | Path) -> None:
    """Write documents one by one, which may be versions of the same one; see `write_corpus`.

    >>> write_documents([Document("a", text="un")], folder / "c.jsonl")
    >>> next(read_documents(folder / "c.jsonl")).text
    'un'
    """
    versions = (version for document in documents for version in (versions_of(document) if document.history else (document,)))
    records = ((f"document {version.id!r}", document_record(version)) for version in versions)
    format_of(path).write_records(records, DOCUMENT_FIELDS, path)


def write_queries(queries: Queries, path: str | Path) -> None:
    """Write queries as one file, in the format of its suffix."""
    records = ((f"query {query.id!r}", query_record(query)) for query in queries)
    format_of(path).write_records(records, QUERY_FIELDS, path)


def format_of(path: str | Path) -> FileFormat:
    """The format of a file by its suffix; ``.gz`` is ignored.

    >>> format_of("corpus.xls.gz")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: 'corpus.xls.gz' has no known format; use .jsonl, .ndjson, .jsonlines, .json, .csv, .tsv, ...
    """
    name = Path(path).name.lower()
    for suffix, format_ in FORMATS.items():
        if name.removesuffix(".gz").endswith(suffix):
            return format_
    raise ConfigError(
        f"{str(path)!r} has no known format; use {', '.join(FORMATS)}, each also with .gz, or a BEIR folder for reading"
    )


def is_corpus_table(path: Path) -> bool:
    """Whether a file has the name of a table that `read_corpus` reads."""
    return path.name.lower().removesuffix(".gz").endswith(tuple(FORMATS))


def plain_or_gzipped(folder: Path, name: str) -> Path | None:
    """The file of a folder, plain or gzipped, if it has one; having both is an error, since either could be meant."""
    found = [path for path in (folder / name, folder / f"{name}.gz") if path.exists()]
    if len(found) > 1:
        raise DataError(f"has both {name} and {name}.gz; remove one", path=folder)
    return found[0] if found else None


def _file(path: str | Path, name: str) -> Path:
    """The file itself, or the one of this name in a BEIR folder."""
    path = existing(path)
    if not path.is_dir():
        return path
    if (file := plain_or_gzipped(path, name)) is None:
        found = ", ".join(sorted(entry.name for entry in path.iterdir())[:8]) or "nothing"
        raise NotFoundError(f"no {name} or {name}.gz in {str(path)!r}; found {found}")
    return file


def _typed(path: Path, report: ReadReport, options: TableOptions) -> TableOptions:
    """The options with the types of the metadata of a text table, whose cells have none."""
    format_ = format_of(path)
    if not isinstance(format_, DelimitedText) or not path.is_file():  # a pipe can be read only once
        return options
    types = format_.column_types(path, DOCUMENT_FIELDS, options)
    for name, kind in types.items():
        if kind is not ColumnType.TEXT:
            report.note(f"metadata {name!r} is read as a {kind}; state another type with --type", path=path)
    return replace(options, types={**types, **options.types})


def _readable(path: Path, fields: tuple[str, ...], options: TableOptions) -> Iterator[Mapping[str, Any]]:
    """The records of a file without the bad ones; none of a pipe, which can be read only once."""
    if not path.is_file():
        return
    for _, record in format_of(path).read_records(path, fields, ReadReport(skip_bad=True), options):
        with suppress(DataError):
            yield options.record(record)


def _rows(
    path: Path,
    fields: tuple[str, ...],
    read: Callable[[Mapping[str, Any]], Row],
    report: ReadReport,
    options: TableOptions = PLAIN,
) -> Iterator[tuple[int, Row]]:
    first: dict[tuple[str, datetime.date | None], int] = {}  # documents of one id are versions that begin on different days
    unseen = set(options.columns.values())
    columns: dict[str, None] = {}
    format_ = format_of(path)
    order = DateOrder(lambda: _readable(path, fields, options))
    for line, record in format_.read_records(path, fields, report, options):
        if unseen:
            unseen -= record.keys()
            columns |= dict.fromkeys(record)
        try:
            row = read(order.settled(options.record(record)))
            name = (row.id, row.valid_from if isinstance(row, Document) else None)
            if name in first:
                raise DataError(f"id {row.id!r} is already used on line {first[name]}; ids must be unique")
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=line))
            continue
        first[name] = line
        report.kept += 1
        yield line, row
    if unseen and columns and not isinstance(format_, DelimitedText):  # where the header was checked
        raise DataError(missing_column(min(unseen), list(columns)).reason, path=path)
