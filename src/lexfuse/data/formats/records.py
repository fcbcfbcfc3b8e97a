"""Build a table from the numbered records of a file: rules shared by all formats.

Unreadable records and repeated ids are refused with their location; an empty document is kept and noted; a corpus without
documents is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.fields import document_of, query_of
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError

Records = Iterable[tuple[int, Mapping[str, Any]]]  # line (or row, from 1) and flat record
Row = TypeVar("Row", Document, Query)


def corpus_from(records: Records, path: str | Path, report: ReadReport) -> Corpus:
    """A corpus from the records of a file.

    >>> report = ReadReport(skip_bad=True)
    >>> len(corpus_from([(1, {"id": "a", "text": "x"}), (2, {"id": "a", "text": "y"})], "c.jsonl", report))
    1
    >>> report.lines()
    ["1 skipped: id 'a' is already used on line 1; ids must be unique (c.jsonl, line 2)"]
    """
    documents = []
    for line, document in _rows(records, document_of, path, report):
        if not document.title.strip() and not document.text.strip():
            report.note("document without title and text, kept", path=path, line=line)
        documents.append(document)
    if not documents:
        raise DataError(f"has no documents{_but_skipped(report)}; a corpus needs at least one", path=path)
    return Corpus.of(documents)


def queries_from(records: Records, path: str | Path, report: ReadReport) -> Queries:
    """Queries from the records of a file."""
    queries = []
    for line, query in _rows(records, query_of, path, report):
        if not query.text.strip():
            report.note("query without text, kept", path=path, line=line)
        queries.append(query)
    if not queries:
        report.note("no queries", path=path)
    return Queries.of(queries)


def _rows(
    records: Records, read: Callable[[Mapping[str, Any]], Row], path: str | Path, report: ReadReport
) -> Iterable[tuple[int, Row]]:
    first: dict[str, int] = {}
    for line, record in records:
        try:
            row = read(record)
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=line))
            continue
        if row.id in first:
            reason = f"id {row.id!r} is already used on line {first[row.id]}; ids must be unique"
            report.bad(DataError(reason, path=path, line=line))
            continue
        first[row.id] = line
        report.kept += 1
        yield line, row


def _but_skipped(report: ReadReport) -> str:
    return f" ({report.skipped:,} bad records were skipped)" if report.skipped else ""
