"""Read and write corpora and queries; the format follows from the file name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lexfuse.data.corpus import Corpus
from lexfuse.data.files import existing
from lexfuse.data.formats import csv_file, jsonl, parquet
from lexfuse.data.formats.beir import corpus_file, queries_file
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The readers and writers of one format."""

    read_corpus: Callable[[str | Path, ReadReport | None], Corpus]
    read_queries: Callable[[str | Path, ReadReport | None], Queries]
    write_corpus: Callable[[Corpus, str | Path], None]
    write_queries: Callable[[Queries, str | Path], None]


_JSONL = FileFormat(jsonl.read_corpus, jsonl.read_queries, jsonl.write_corpus, jsonl.write_queries)
FORMATS: Mapping[str, FileFormat] = {
    ".jsonl": _JSONL,
    ".ndjson": _JSONL,
    ".jsonlines": _JSONL,
    ".csv": FileFormat(csv_file.read_corpus, csv_file.read_queries, csv_file.write_corpus, csv_file.write_queries),
    ".parquet": FileFormat(parquet.read_corpus, parquet.read_queries, parquet.write_corpus, parquet.write_queries),
}


def read_corpus(path: str | Path, report: ReadReport | None = None) -> Corpus:
    """Read a corpus from a JSON Lines, CSV or Parquet file, or from a BEIR folder.

    >>> _ = (folder / "corpus.jsonl").write_text('{"_id": "a", "text": "un"}')
    >>> read_corpus(folder).text
    ('un',)
    """
    path = existing(path)
    path = corpus_file(path) if path.is_dir() else path
    return format_of(path).read_corpus(path, report)


def read_queries(path: str | Path, report: ReadReport | None = None) -> Queries:
    """Read queries from a JSON Lines, CSV or Parquet file, or from a BEIR folder.

    >>> _ = (folder / "queries.jsonl").write_text('{"_id": "q", "text": "préavis"}')
    >>> read_queries(folder).text
    ('préavis',)
    """
    path = existing(path)
    path = queries_file(path) if path.is_dir() else path
    return format_of(path).read_queries(path, report)


def write_corpus(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as one file, in the format of its suffix; `write_collection` writes folders.

    >>> from lexfuse.data.document import Document
    >>> write_corpus(Corpus.of([Document("a", text="un")]), folder / "c.parquet")
    >>> read_corpus(folder / "c.parquet").text
    ('un',)
    """
    format_of(path).write_corpus(corpus, path)


def write_queries(queries: Queries, path: str | Path) -> None:
    """Write queries as one file, in the format of its suffix."""
    format_of(path).write_queries(queries, path)


def format_of(path: str | Path) -> FileFormat:
    """The format of a file by its suffix; ``.gz`` is ignored.

    >>> format_of("corpus.json.gz")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: 'corpus.json.gz' has no known format; use .jsonl, .ndjson, .jsonlines, .csv, .parquet, ...
    """
    name = Path(path).name.lower()
    for suffix, format_ in FORMATS.items():
        if name.removesuffix(".gz").endswith(suffix):
            return format_
    raise ConfigError(
        f"{str(path)!r} has no known format; use {', '.join(FORMATS)}, each also with .gz, or a BEIR folder for reading"
    )
