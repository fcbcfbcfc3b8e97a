"""An index folder written into PostgreSQL in one transaction: readers see the old index or the new one, never a half.

New tables are filled under other names and take the place of the old ones at the end. An interrupted export leaves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from lexfuse.channels.lexical.bm25 import K1, B, check_parameters
from lexfuse.channels.postgres.channel_tables import dense_rows, sparse_rows
from lexfuse.channels.postgres.text_config import config_of
from lexfuse.data.arrays import I32
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.storage.document_rows import row_of
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.postgres.address import PostgresAddress
from lexfuse.storage.postgres.database import Database
from lexfuse.storage.postgres.tables import (
    DENSE,
    DOCUMENTS,
    FIELDS,
    FORMAT,
    LEXEMES,
    SETTINGS,
    SPARSE,
    ChannelExport,
    ExportedIndex,
    WordsExport,
    channel_tables,
    read_export,
    terms_table,
    vectors_table,
    weights_table,
)

if TYPE_CHECKING:
    from psycopg import Connection

_AT_ONCE = 1000  # documents that are read together
_INDEXED_NUMBERS, _INDEXED_TERMS = 2000, 1000  # of a dense and of a sparse vector in an HNSW index: limits of pgvector
_PLAIN_NUMBERS = 1900  # of a vector that fits a page of 8 KiB: kept in the row, which is faster to scan
TEXTSEARCH = "pg_textsearch"

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What is exported, and how.

    >>> ExportOptions(k1=-1)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: k1 must be 0 or more, got -1; 1.2 is usual
    """

    channels: tuple[str, ...] = ()  # dense and learned sparse ones; all if empty
    text_config: str = ""  # of PostgreSQL's text search; by default that of the language of most documents
    k1: float = K1  # of the BM25 index
    b: float = B
    hnsw: bool = False  # whether vectors get an HNSW index, for approximate search
    replace: bool = False  # whether an index that is in the schema may be replaced by another one

    def __post_init__(self) -> None:
        """Refuse parameters outside their range."""
        check_parameters(self.k1, self.b)


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What an export has written, or found there already."""

    place: str
    documents: int
    channels: tuple[str, ...]
    left_out: tuple[str, ...]  # channels of the index that PostgreSQL cannot have
    text_config: str
    bm25_index: bool  # whether pg_textsearch ranks words; else they are ranked from the table of lexemes
    written: bool  # False if the same index was there


def export_index(
    snapshot: FolderSnapshot,
    name: str,
    address: PostgresAddress,
    options: ExportOptions | None = None,
    *,
    progress: Progress = lambda _: None,
) -> ExportResult:
    """Write an index into the schema of an address; `progress` gets how many documents are written.

    Nothing is written where the schema has the same index already. Another index there is a `StorageError`, unless `replace` is
    given; tables that LexFuse did not write are never replaced.
    """
    if snapshot.has_history:
        raise ConfigError("PostgreSQL holds one version of each document, and this index holds several; import without --history")
    options = options or ExportOptions()
    chosen, left_out = _channels(snapshot, options)
    database = Database(address)
    try:
        with database.connected() as connection:
            return _Exporter(database, connection, snapshot, name, options, progress).run(chosen, left_out)
    finally:
        database.close()


def _channels(snapshot: FolderSnapshot, options: ExportOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kinds = {name: snapshot.channel(name).named.settings.kind for name in snapshot.channels}
    possible = tuple(name for name, kind in kinds.items() if kind in (DENSE, SPARSE))
    for one in options.channels:
        if one not in possible:
            reason = f"is of the kind {kinds[one]!r}, which has no table" if one in kinds else "is not in the index"
            raise ConfigError(f"the channel {one!r} {reason}; {', '.join(possible) or 'no channel'} can be exported")
    return options.channels or possible, tuple(name for name in kinds if name not in possible)


@dataclass(frozen=True, slots=True)
class _Exporter:
    database: Database
    connection: Connection[tuple[Any, ...]]
    snapshot: FolderSnapshot
    name: str
    options: ExportOptions
    progress: Progress
    generation: int = 0

    def run(self, channels: Sequence[str], left_out: tuple[str, ...]) -> ExportResult:
        snapshot, config = self.snapshot, config_of(self.connection, self.snapshot, self.options.text_config)
        source = self._source(channels, config)
        with self.connection.transaction():
            self._execute("SELECT pg_advisory_xact_lock(hashtext('lexfuse export'), hashtext(%s))", self._schema)
            before = self._former()
            if before is not None and before.source == source:
                exported, written = before, False
            else:
                if before is not None and not self.options.replace:
                    raise StorageError(
                        f"{self.database.address} has another index, or another state of it; replace it with --force, or name "
                        "another schema with ?schema="
                    )
                generation = max(int(time.time()), before.generation + 1 if before else 0)
                exported, written = replace(self, generation=generation)._write(source, config, channels, before), True
        index = bool(exported.words.bm25_index)
        return ExportResult(
            str(self.database.address), len(snapshot), tuple(exported.channels), left_out, exported.words.config, index, written
        )

    def _write(self, source: str, config: str, channels: Sequence[str], before: ExportedIndex | None) -> ExportedIndex:
        textsearch = self._extensions(bool(channels))
        self._make_documents()
        words = self._make_words(config, textsearch)
        made = {channel: self._make_channel(channel) for channel in channels}
        exported = ExportedIndex(self.generation, source, self.snapshot.settings, words, made, {})
        self._put_in_place(exported, before)
        return exported

    @property
    def _schema(self) -> str:
        return self.database.address.schema

    def _new(self, table: str) -> tuple[str, str]:
        """The name of a table until it is complete."""
        return self._schema, f"{table}~{self.generation}"

    def _execute(self, text: str, *values: Any, **names: Any) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(self.database.sql(text, **names), values or None, prepare=False)
        return cursor.fetchall() if cursor.description else []

    def _source(self, channels: Sequence[str], config: str) -> str:
        """The same text for the same content, exported in the same way."""
        snapshot, options, digest = self.snapshot, self.options, sha256()
        for first in range(0, len(snapshot), _AT_ONCE):
            for document in snapshot.documents(sorted(snapshot.ids)[first : first + _AT_ONCE]):
                digest.update("\x1f".join(value or "" for value in row_of(document)).encode("utf-8", "surrogatepass"))
        named = [snapshot.channel(channel).named for channel in channels]
        how = [FORMAT, config, options.k1, options.b, options.hnsw, snapshot.settings.as_json()]
        how += [[one.name, one.settings.as_json(), one.passages] for one in named]
        digest.update(orjson.dumps(how, option=orjson.OPT_SORT_KEYS))
        return f"{self.name} {digest.hexdigest()[:32]}"

    def _former(self) -> ExportedIndex | None:
        """The index that the schema has; a schema that does not exist is created."""
        exists = self._execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", self._schema)
        if not exists:
            self._execute("CREATE SCHEMA {schema}", schema=self._schema)
            return None
        statement = (
            "SELECT relname FROM pg_class JOIN pg_namespace AS own ON own.oid = relnamespace"
            " WHERE nspname = %s AND relkind IN ('r', 'v', 'm', 'f', 'p')"
        )
        tables = {table for (table,) in self._execute(statement, self._schema)}
        if SETTINGS in tables:
            return read_export(self.database)
        if taken := sorted(tables & {DOCUMENTS, LEXEMES}):
            raise StorageError(
                f"{self.database.address} has a table {taken[0]!r} that LexFuse did not write; name another schema with ?schema="
            )
        return None

    def _extensions(self, vectors: bool) -> bool:
        """Make sure that pgvector is there if it is needed; whether pg_textsearch is."""
        if vectors and not self._extension("vector"):
            raise ConfigError(
                f"{self.database.address} has no extension pgvector; install it on the server, and run CREATE EXTENSION vector "
                "as a role that may"
            )
        found = self._extension(TEXTSEARCH)
        self.database.find_extensions(self.connection)
        return found

    def _extension(self, extension: str) -> bool:
        from psycopg import Error

        if self._execute("SELECT 1 FROM pg_extension WHERE extname = %s", extension):
            return True
        if not self._execute("SELECT 1 FROM pg_available_extensions WHERE name = %s", extension):
            return False
        try:
            with self.connection.transaction():
                self._execute("CREATE EXTENSION {extension} SCHEMA public", extension=extension)
        except Error:  # no right to, or it is not among shared_preload_libraries
            return False
        return True

    def _make_documents(self) -> None:
        from psycopg.sql import SQL

        columns = SQL(", ").join(self.database.sql(f"{{name}} {kind}", name=name) for name, kind in FIELDS.items())
        self._execute("CREATE TABLE {table} ({columns}, words text NOT NULL)", table=self._new(DOCUMENTS), columns=columns)
        copy, weights = self.database.sql("COPY {table} FROM STDIN", table=self._new(DOCUMENTS)), self._repeats()
        ids = sorted(self.snapshot.ids)
        with self.connection.cursor().copy(copy) as rows:
            for first in range(0, len(ids), _AT_ONCE):
                for ordinal, document in enumerate(self.snapshot.documents(ids[first : first + _AT_ONCE]), start=first):
                    rows.write_row((ordinal, *_row(document), self._words(document, weights)))
                self.progress(min(first + _AT_ONCE, len(ids)))
        self._execute("ALTER TABLE {table} ADD PRIMARY KEY (ordinal), ADD UNIQUE (id)", table=self._new(DOCUMENTS))

    def _repeats(self) -> dict[str, int]:
        """How often the text of each field counts; PostgreSQL has no other weights."""
        fields = self.snapshot.settings.fields
        if wrong := {name: weight for name, weight in fields.items() if weight != int(weight)}:
            name, weight = next(iter(wrong.items()))
            raise ConfigError(f"the field {name!r} weighs {weight}; PostgreSQL can repeat words whole times only: index again")
        return {name: int(weight) for name, weight in fields.items()}

    def _words(self, document: Document, weights: Mapping[str, int]) -> str:
        texts = []
        for name, weight in weights.items():
            value = getattr(document, name)
            texts += ["\n".join(value) if isinstance(value, tuple) else value] * weight
        return "\n".join(text for text in texts if text)

    def _make_words(self, config: str, textsearch: bool) -> WordsExport:
        """The posting lists of PostgreSQL's lexemes and, if the server has pg_textsearch, its BM25 index."""
        from psycopg.sql import SQL, Composed, Literal

        lexemes, documents = self._new(LEXEMES), self._new(DOCUMENTS)
        self._execute(
            'CREATE TABLE {lexemes} (lexeme text COLLATE "C" PRIMARY KEY, documents integer[], counts integer[],'
            " lengths integer[])",
            lexemes=lexemes,
        )
        self._execute(
            "INSERT INTO {lexemes} SELECT lexeme, array_agg(ordinal ORDER BY ordinal), array_agg(count ORDER BY ordinal),"
            " array_agg(length ORDER BY ordinal) FROM (SELECT ordinal, lexeme, cardinality(positions) AS count,"
            " (sum(cardinality(positions)) OVER (PARTITION BY ordinal))::integer AS length"
            " FROM {documents}, LATERAL unnest(to_tsvector(%s::regconfig, words))) AS held GROUP BY lexeme",
            config, lexemes=lexemes, documents=documents,
        )  # fmt: skip
        total = "SELECT coalesce(sum(count), 0)::float8 FROM {lexemes}, LATERAL unnest(counts) AS count"
        mean = self._execute(total, lexemes=lexemes)[0][0] / max(len(self.snapshot), 1)
        index = f"words {self.generation}" if textsearch else ""
        if textsearch:
            values = {"text_config": config, "k1": self.options.k1, "b": self.options.b}
            given = SQL(", ").join(Composed([SQL(f"{name} = "), Literal(str(value))]) for name, value in values.items())
            statement = "CREATE INDEX {index} ON {documents} USING bm25 (words) WITH ({given})"
            self._execute(statement, index=index, documents=documents, given=Composed([given]))
        return WordsExport(config, index, self.options.k1, self.options.b, mean)

    def _make_channel(self, channel: str) -> ChannelExport:
        named = self.snapshot.channel(channel).named
        make = self._make_dense if named.settings.kind == DENSE else self._make_sparse
        return make(channel)

    def _make_dense(self, channel: str) -> ChannelExport:
        found, table = dense_rows(self.snapshot, channel, self._ordinals), self._new(vectors_table(channel))
        if self.options.hnsw and found.size > _INDEXED_NUMBERS:
            raise ConfigError(f"{channel!r} has vectors of {found.size} numbers, HNSW takes {_INDEXED_NUMBERS}; leave out --hnsw")
        columns = "ordinal integer, passage integer, starts integer, ends integer, embedding"
        self._execute(f"CREATE TABLE {{table}} ({columns} vector({found.size:d}))", table=table)
        if found.size <= _PLAIN_NUMBERS:
            self._execute("ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE PLAIN", table=table)
        self._copy(table, found.rows, ("int4", "int4", "int4", "int4", "bytea"))
        self._execute("ALTER TABLE {table} ADD PRIMARY KEY (ordinal, passage)", table=table)
        self._make_hnsw(table, "embedding vector_ip_ops")
        return self._channel(channel, found.documents, found.size, found.longest)

    def _make_sparse(self, channel: str) -> ChannelExport:
        found, table, terms = sparse_rows(self.snapshot, channel, self._ordinals), weights_table(channel), terms_table(channel)
        if self.options.hnsw and found.largest > _INDEXED_TERMS:
            most = f"{channel!r} has a vector of {found.largest:,} terms, HNSW takes {_INDEXED_TERMS:,}"
            raise ConfigError(f"{most}; leave out --hnsw, or make the channel with fewer terms")
        size = max(len(found.terms), 1)
        self._execute(
            f"CREATE TABLE {{table}} (ordinal integer, weights sparsevec({size:d}), length real)", table=self._new(table)
        )
        self._copy(self._new(table), found.rows, ("int4", "bytea", "float4"))
        self._execute("ALTER TABLE {table} ADD PRIMARY KEY (ordinal)", table=self._new(table))
        self._execute("CREATE TABLE {table} (place integer PRIMARY KEY, term text)", table=self._new(terms))
        self._copy(self._new(terms), list(enumerate(found.terms)), ("int4", "text"))
        self._make_hnsw(self._new(table), "weights sparsevec_ip_ops")
        return self._channel(channel, found.documents, size, 0.0)

    def _channel(self, channel: str, documents: int, size: int, longest: float) -> ChannelExport:
        return ChannelExport(self.snapshot.channel(channel).named, documents, size, longest, self.options.hnsw)

    @property
    def _ordinals(self) -> I32:
        """The number in PostgreSQL of every document of the snapshot."""
        return self.snapshot.ids.order

    def _make_hnsw(self, table: tuple[str, str], column: str) -> None:
        if self.options.hnsw:
            self._execute(f"CREATE INDEX ON {{table}} USING hnsw ({column})", table=table)

    def _copy(self, table: tuple[str, str], every: Any, types: Sequence[str]) -> None:
        copy = self.database.sql("COPY {table} FROM STDIN (FORMAT BINARY)", table=table)
        with self.connection.cursor().copy(copy) as rows:
            rows.set_types(types)
            for row in every:
                rows.write_row(row)

    def _put_in_place(self, exported: ExportedIndex, before: ExportedIndex | None) -> None:
        from psycopg.types.json import Json

        settings = self._new(SETTINGS)
        self._execute("CREATE TABLE {table} (format integer, generation bigint, content json)", table=settings)
        insert = "INSERT INTO {table} VALUES (%s, %s, %s)"
        self._execute(insert, FORMAT, exported.generation, Json(exported.as_json()), table=settings)
        for table in _tables(before.channels) if before else ():
            self._execute("DROP TABLE IF EXISTS {table}", table=(self._schema, table))
        for table in _tables(exported.channels):
            self._execute("ANALYZE {table}", table=self._new(table))
            self._execute("ALTER TABLE {table} RENAME TO {name}", table=self._new(table), name=table)


def _tables(channels: Mapping[str, ChannelExport]) -> list[str]:
    own = [table for name, channel in channels.items() for table in channel_tables(name, channel)]
    return [SETTINGS, DOCUMENTS, LEXEMES, *own]


def _row(document: Document) -> tuple[str | None, ...]:
    """A document as columns of its table; `DataError` for a character that PostgreSQL cannot have."""
    row = row_of(document)
    for value in row:
        if value is not None and ("\0" in value or "\\u0000" in value):
            raise DataError(f"document {document.id!r} has the character NUL, which PostgreSQL cannot store; take it out")
    return row
