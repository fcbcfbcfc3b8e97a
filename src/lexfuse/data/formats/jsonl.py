"""JSON Lines as in BEIR: ``{"_id", "title", "text", "metadata"}`` for documents, without title for queries.

Metadata may also be at the top level. A field with different values in both places is an error; only a title, text or id inside
the metadata is kept in ``extra``, since it is not the document's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.corpus import Corpus
from lexfuse.data.files import decode, lines, written_file
from lexfuse.data.formats.fields import DOCUMENT_FIELDS, QUERY_FIELDS, document_record, known_names, query_record
from lexfuse.data.formats.json_text import from_json, to_json
from lexfuse.data.formats.records import corpus_from, queries_from
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError

_OWN = known_names(["id", "title", "text"])
_NOT_FLAT = {"metadata", "extra"}


def read_corpus(path: str | Path, report: ReadReport | None = None) -> Corpus:
    """Read a corpus, plain or gzipped; `lexfuse.data.formats.fields` lists the field names.

    >>> path = folder / "corpus.jsonl"
    >>> _ = path.write_text('{"_id": 1, "text": "Le préavis…", "metadata": {"court": "Cass. soc."}}')
    >>> read_corpus(path).court
    ('Cass. soc.',)
    """
    report = report or ReadReport()
    return corpus_from(_records(path, report), path, report)


def read_queries(path: str | Path, report: ReadReport | None = None) -> Queries:
    """Read queries, plain or gzipped."""
    report = report or ReadReport()
    return queries_from(_records(path, report), path, report)


def write_corpus(corpus: Corpus, path: str | Path) -> None:
    r"""Write a corpus, gzipped if the name ends in ``.gz``; the same corpus gives the same bytes.

    >>> from lexfuse.data.document import Document
    >>> write_corpus(Corpus.of([Document("a", text="un", language="fr")]), folder / "c.jsonl")
    >>> (folder / "c.jsonl").read_text()
    '{"_id":"a","title":"","text":"un","metadata":{"language":"fr"}}\n'
    """
    names = known_names(DOCUMENT_FIELDS) | _NOT_FLAT
    _write((("document", document_record(document)) for document in corpus), ("title", "text"), names, path)


def write_queries(queries: Queries, path: str | Path) -> None:
    r"""Write queries, gzipped if the name ends in ``.gz``."""
    names = known_names(QUERY_FIELDS) | _NOT_FLAT
    _write((("query", query_record(query)) for query in queries), ("text",), names, path)


def _records(path: str | Path, report: ReadReport) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, raw in lines(path):
        text = decode_or_report(raw, path, number, report)
        if text is None or not text.strip():
            continue
        try:
            yield number, _flat(from_json(text))
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=number))


def decode_or_report(raw: bytes, path: str | Path, line: int, report: ReadReport) -> str | None:
    r"""The text of a line, or ``None`` after reporting that its bytes are not UTF-8."""
    try:
        return decode(raw, path=path, line=line)
    except DataError as error:
        report.bad(error)
        return None


def _flat(value: Any) -> dict[str, Any]:
    """Merge the metadata with id, title and text into one level."""
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


def _write(
    records: Iterable[tuple[str, dict[str, Any]]], fields: tuple[str, ...], not_flat: frozenset[str], path: str | Path
) -> None:
    with written_file(path) as out:
        for what, record in records:
            line = {"_id": record.pop("id"), **{field: record.pop(field) for field in fields}}
            extra = record.pop("extra", {})
            # An extra name that would be read as a known field stays in ``extra``; see `fields.document_of`.
            nested = {name: value for name, value in extra.items() if name in not_flat}
            metadata = record | {name: value for name, value in extra.items() if name not in not_flat}
            line["metadata"] = metadata | ({"extra": nested} if nested else {})
            out.write(to_json(line, f"{what} {line['_id']!r}") + b"\n")
