"""An index folder written into PostgreSQL in one transaction: readers see the old index or the new one, never a half.

New tables are filled under other names and take the place of the old ones at the end. An interrupted export leaves nothing.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import orjson

from lexfuse.channels.lexical.bm25 import K1, B, check_parameters
from lexfuse.channels.postgres.document_tables import Progress, sorted_documents, write_documents, write_words
from lexfuse.channels.postgres.extensions import prepare_extensions
from lexfuse.channels.postgres.table_writer import TableWriter
from lexfuse.channels.postgres.text_config import config_of
from lexfuse.channels.postgres.vector_tables import write_channel
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.storage.document_rows import row_of
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.postgres.address import PostgresAddress
from lexfuse.storage.postgres.database import Database, Row
from lexfuse.storage.postgres.tables import (
    DENSE,
    FORMAT,
    SETTINGS,
    SPARSE,
    ExportedIndex,
    foreign_table,
    index_tables,
    is_index_table,
    read_export,
)

if TYPE_CHECKING:
    from psycopg import Connection


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
    hnsw: bool = False  # whether vectors get an HNSW index, for approximate search, if they are not too large for it
    replace: bool = False  # whether an index that is in the schema may be replaced by another one
    as_of: datetime.date | None = None  # the day whose versions are exported, of an index with history

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
    without_hnsw: tuple[str, ...]  # channels with a vector that is too large for the HNSW index that was asked for
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
    options = options or ExportOptions()
    snapshot = _on_day(snapshot, options.as_of)
    chosen, left_out = _channels(snapshot, options)
    database = Database(address)
    try:
        with database.connected() as connection:
            return _Exporter(database, connection, snapshot, name, options, progress).run(chosen, left_out)
    finally:
        database.close()


def _on_day(snapshot: FolderSnapshot, day: datetime.date | None) -> FolderSnapshot:
    """The versions in force on a day: PostgreSQL holds one of each document, as statistics of words change from day to day."""
    if snapshot.has_history and day is None:
        reason = "PostgreSQL holds one version of each document, and this index holds several"
        raise ConfigError(f"{reason}; choose the day whose law is exported: --as-of 2024-01-31")
    if day is not None and not snapshot.has_history:
        raise ConfigError("the documents of the index have no versions, and all are exported; leave out --as-of")
    return snapshot if day is None else snapshot.on(day)


def _channels(snapshot: FolderSnapshot, options: ExportOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kinds = {name: snapshot.channel(name).named.settings.kind for name in snapshot.channels}
    possible = tuple(name for name, kind in kinds.items() if kind in (DENSE, SPARSE))
    for one in options.channels:
        if one not in possible:
            reason = f"is of the kind {kinds[one]!r}, which has no table" if one in kinds else "is not in the index"
            raise ConfigError(f"the channel {one!r} {reason}; {', '.join(possible) or 'no channel'} can be exported")
    return options.channels or possible, tuple(name for name in kinds if name not in possible)


class FormerExport(NamedTuple):
    """What a schema has of LexFuse; `exported` is None if it cannot be read."""

    exported: ExportedIndex | None
    generation: int
    tables: list[str]


@dataclass(frozen=True, slots=True)
class _Exporter:
    database: Database
    connection: Connection[Row]
    snapshot: FolderSnapshot
    name: str
    options: ExportOptions
    progress: Progress

    def run(self, channels: Sequence[str], left_out: tuple[str, ...]) -> ExportResult:
        snapshot, config = self.snapshot, config_of(self.connection, self.snapshot, self.options.text_config)
        source = self._source(channels, config)
        with self.connection.transaction():
            lock = "SELECT pg_advisory_xact_lock(hashtext('lexfuse export'), hashtext(%s))"
            self.database.execute(self.connection, lock, self.database.address.schema)
            before = self._former(channels)
            if before is not None and before.exported is not None and before.exported.source == source:
                exported, written = before.exported, False
            else:
                if before is not None and not self.options.replace:
                    raise StorageError(
                        f"{self.database.address} has another index, or another state of it; replace it with --force, or name "
                        "another schema with ?schema="
                    )
                exported, written = self._write(source, config, channels, before), True
        without = tuple(name for name, one in exported.channels.items() if self.options.hnsw and not one.approximate)
        return ExportResult(
            str(self.database.address), len(snapshot), tuple(exported.channels), left_out, without, exported.words.config,
            bool(exported.words.bm25_index), written,
        )  # fmt: skip

    def _write(self, source: str, config: str, channels: Sequence[str], before: FormerExport | None) -> ExportedIndex:
        snapshot, options = self.snapshot, self.options
        textsearch = prepare_extensions(self.database, self.connection, vectors=bool(channels))
        generation = max(int(time.time()), before.generation + 1 if before else 0)
        writer = TableWriter(self.database, self.connection, generation)
        write_documents(writer, snapshot, self.progress)
        words = write_words(writer, snapshot, config, options.k1, options.b, textsearch=textsearch)
        made = {channel: write_channel(writer, snapshot, channel, hnsw=options.hnsw) for channel in channels}
        exported = ExportedIndex(generation, source, snapshot.settings, words, made, {})
        write_settings(writer, exported)
        writer.put_in_place(exported.tables, before.tables if before else ())
        return exported

    def _former(self, channels: Sequence[str]) -> FormerExport | None:
        """The index that the schema has; a schema that does not exist is created, tables of others are a `StorageError`."""
        database, connection, schema = self.database, self.connection, self.database.address.schema
        if not database.execute(connection, "SELECT 1 FROM pg_namespace WHERE nspname = %s", schema):
            database.execute(connection, "CREATE SCHEMA {schema}", schema=schema)
            return None
        statement = (
            "SELECT relname FROM pg_class JOIN pg_namespace AS own ON own.oid = relnamespace"
            " WHERE nspname = %s AND relkind IN ('r', 'v', 'm', 'f', 'p')"
        )
        tables = {table for (table,) in database.execute(connection, statement, schema)}
        before = self._read_former(tables) if SETTINGS in tables else None
        wanted = index_tables({channel: self.snapshot.channel(channel).named.settings.kind for channel in channels})
        if taken := sorted(tables & set(wanted) - set(before.tables if before else ())):
            raise foreign_table(database, taken[0])
        return before

    def _read_former(self, tables: set[str]) -> FormerExport:
        try:
            former = read_export(self.database)
        except DataError:  # of another format, or damaged: it can be replaced
            newest = "SELECT coalesce(max(generation), 0) FROM {table}"
            settings = (self.database.address.schema, SETTINGS)
            generation = self.database.execute(self.connection, newest, table=settings)[0][0]
            return FormerExport(None, generation, sorted(filter(is_index_table, tables)))
        return FormerExport(former, former.generation, former.tables)

    def _source(self, channels: Sequence[str], config: str) -> str:
        """The same text for the same content, exported in the same way."""
        snapshot, options, digest = self.snapshot, self.options, sha256()
        for _, document in sorted_documents(snapshot):
            digest.update("\x1f".join(value or "" for value in row_of(document)).encode("utf-8", "surrogatepass"))
        named = [snapshot.channel(channel).named for channel in channels]
        how = [FORMAT, config, options.k1, options.b, options.hnsw, snapshot.settings.as_json()]
        how += [[one.name, one.settings.as_json(), one.passages] for one in named]
        digest.update(orjson.dumps(how, option=orjson.OPT_SORT_KEYS))
        return f"{self.name} {digest.hexdigest()[:32]}"


def write_settings(writer: TableWriter, exported: ExportedIndex) -> None:
    """The table whose one row describes the export."""
    from psycopg.types.json import Json

    settings = writer.new(SETTINGS)
    writer.execute("CREATE TABLE {table} (format integer, generation bigint, content json)", table=settings)
    insert = "INSERT INTO {table} VALUES (%s, %s, %s)"
    writer.execute(insert, FORMAT, exported.generation, Json(exported.as_json()), table=settings)
