"""The table of documents, the posting lists of their lexemes, and the BM25 index of pg_textsearch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lexfuse.channels.postgres.table_writer import TableWriter
from lexfuse.channels.postgres.word_pieces import word_pieces
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.document_rows import row_of
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.postgres.tables import DOCUMENTS, FIELDS, LEXEMES, WordsExport

Progress = Callable[[int], None]

_SURELY_INDEXED = 100_000  # bytes of a text whose words fit a tsvector of 1 MiB, whatever they are
_PIECES = "pieces"  # of the words of documents, while the lexemes are counted
_COUNTED = (
    "INSERT INTO {lexemes} SELECT lexeme, count(*), sum(count), array_agg(ordinal ORDER BY ordinal),"
    " array_agg(count ORDER BY ordinal), array_agg(length ORDER BY ordinal) FROM (SELECT ordinal, lexeme, count,"
    " (sum(count) OVER (PARTITION BY ordinal))::integer AS length FROM (SELECT ordinal, lexeme,"
    " sum(cardinality(positions))::integer AS count FROM {pieces}, LATERAL unnest(to_tsvector(%s::regconfig, piece))"
    " GROUP BY ordinal, lexeme) AS counted) AS held GROUP BY lexeme"
)


def sorted_documents(snapshot: FolderSnapshot, at_once: int = 1000) -> Iterator[tuple[int, Document]]:
    """Every document by id, with its number in PostgreSQL."""
    ids = sorted(snapshot.ids)
    for first in range(0, len(ids), at_once):
        yield from enumerate(snapshot.documents(ids[first : first + at_once]), start=first)


def write_documents(writer: TableWriter, snapshot: FolderSnapshot, progress: Progress) -> None:
    """The table of documents; `progress` gets how many are written."""
    from psycopg.sql import SQL

    columns = SQL(", ").join(writer.database.sql(f"{{name}} {kind}", name=name) for name, kind in FIELDS.items())
    table, settings = writer.new(DOCUMENTS), snapshot.settings
    repeats = _repeats(settings)
    writer.execute("CREATE TABLE {table} ({columns}, words text NOT NULL)", table=table, columns=columns)

    def rows() -> Iterator[tuple[Any, ...]]:
        for ordinal, document in sorted_documents(snapshot):
            yield ordinal, *_row(document), _words(document, repeats)
            if (ordinal + 1) % 1000 == 0 or ordinal + 1 == len(snapshot):
                progress(ordinal + 1)

    writer.copy(table, rows())
    writer.execute("ALTER TABLE {table} ADD PRIMARY KEY (ordinal), ADD UNIQUE (id)", table=table)


def _row(document: Document) -> tuple[str | None, ...]:
    """A document as columns of its table; `DataError` for a character that PostgreSQL cannot have."""
    row = row_of(document)
    for value in row:
        if value is not None and ("\0" in value or "\\u0000" in value):
            raise DataError(f"document {document.id!r} has the character NUL, which PostgreSQL cannot store; take it out")
    return row


def _repeats(settings: IndexSettings) -> dict[str, int]:
    """How often the text of each field counts; PostgreSQL has no other weights."""
    for name, weight in settings.fields.items():
        if weight != int(weight):
            raise ConfigError(f"the field {name!r} weighs {weight}; PostgreSQL can repeat words whole times only: index again")
    return {name: int(weight) for name, weight in settings.fields.items()}


def _words(document: Document, repeats: Mapping[str, int]) -> str:
    texts = []
    for name, times in repeats.items():
        value = getattr(document, name)
        texts += ["\n".join(value) if isinstance(value, tuple) else value] * times
    return "\n".join(text for text in texts if text)


def write_words(
    writer: TableWriter, snapshot: FolderSnapshot, config: str, k1: float, b: float, *, textsearch: bool
) -> WordsExport:
    """The posting lists of PostgreSQL's lexemes and, if the server has pg_textsearch, its BM25 index."""
    lexemes, pieces = writer.new(LEXEMES), writer.new(_PIECES)
    writer.execute("CREATE UNLOGGED TABLE {pieces} (ordinal integer, piece text)", pieces=pieces)
    repeats = _repeats(snapshot.settings)
    every = sorted_documents(snapshot)
    writer.copy(pieces, ((ordinal, piece) for ordinal, one in every for piece in word_pieces(_words(one, repeats))))
    figures, arrays = "frequency integer, occurrences bigint", "documents integer[], counts integer[], lengths integer[]"
    writer.execute(f'CREATE TABLE {{lexemes}} (lexeme text COLLATE "C" PRIMARY KEY, {figures}, {arrays})', lexemes=lexemes)
    writer.execute(_COUNTED, config, lexemes=lexemes, pieces=pieces)
    writer.execute("DROP TABLE {pieces}", pieces=pieces)
    total = "SELECT coalesce(sum(occurrences), 0)::float8 FROM {lexemes}"
    mean = writer.execute(total, lexemes=lexemes)[0][0] / max(len(snapshot), 1)
    index = _make_bm25_index(writer, {"text_config": config, "k1": k1, "b": b}) if textsearch else ""
    return WordsExport(config, index, k1, b, mean)


def _make_bm25_index(writer: TableWriter, options: Mapping[str, Any]) -> str:
    """The name of a new index of pg_textsearch."""
    from psycopg.sql import SQL, Composed, Literal

    name, documents = f"words {writer.generation}", writer.new(DOCUMENTS)
    _check_words(writer, options["text_config"])
    given = SQL(", ").join(Composed([SQL(f"{option} = "), Literal(str(value))]) for option, value in options.items())
    statement = "CREATE INDEX {index} ON {documents} USING bm25 (words) WITH ({given})"
    writer.execute(statement, index=name, documents=documents, given=Composed([given]))
    return name


def _check_words(writer: TableWriter, config: str) -> None:
    """Refuse a document whose words do not fit a tsvector, before pg_textsearch reads it: it cannot name the document.

    The savepoint is here and not around the making of the index: rolled back, that ends the server (pg_textsearch 1.0.0).
    """
    from psycopg.errors import ProgramLimitExceeded

    documents = writer.new(DOCUMENTS)
    long = "SELECT ordinal, id FROM {documents} WHERE octet_length(words) > %s ORDER BY ordinal"
    for ordinal, id in writer.execute(long, _SURELY_INDEXED, documents=documents):
        read = "SELECT length(to_tsvector(%s::regconfig, words)) FROM {documents} WHERE ordinal = %s"
        try:
            with writer.connection.transaction():
                writer.execute(read, config, ordinal, documents=documents)
        except ProgramLimitExceeded as error:
            reason = f"document {id!r} has more words than pg_textsearch can index: {error.diag.message_primary}"
            raise DataError(f"{reason}; divide it into several documents") from None
