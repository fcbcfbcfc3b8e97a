"""An index in PostgreSQL as a snapshot: ids and fields are read when they are needed, texts document by document.

Every statement also checks that the index has not been exported again in the meantime; then `GoneError` asks to open it again.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.data.document import Document
from lexfuse.data.ids import Ids
from lexfuse.errors import ConfigError, UnknownChannelError, UnknownDocumentError, UnknownFieldError
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.document_rows import COLUMNS, LISTS, SHORT, document_of
from lexfuse.storage.postgres.address import PostgresAddress
from lexfuse.storage.postgres.database import Database, Row, Values
from lexfuse.storage.postgres.tables import DOCUMENTS, LEXEMES, ChannelExport, channel_tables, read_export
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.snapshot import ChannelState, Snapshot, numbered

if TYPE_CHECKING:
    from psycopg.sql import Composed


class PostgresSnapshot(Snapshot):
    """An exported index, open for reading; documents are numbered by id."""

    def __init__(self, address: PostgresAddress) -> None:
        """Connect, and read what is exported."""
        self.place = str(address)
        self.database = Database(address)
        try:
            self.exported = read_export(self.database)
        except BaseException:
            self.database.close()
            raise
        self.generation, self.settings = self.exported.generation, self.exported.settings
        self._coded: dict[str, tuple[I32, list[Any]]] = {}
        self._numberings: dict[str, Numbering] = {}
        self._lock = RLock()

    def sql(self, text: str, **tables: str) -> Composed:
        """A statement in which ``{name}`` is replaced by a table of the index."""
        schema = self.database.address.schema
        return self.database.sql(text, **{name: (schema, table) for name, table in tables.items()})

    def rows(self, statement: Composed, values: Values = (), *, settings: Mapping[str, str] | None = None) -> list[Row]:
        """The rows of a statement, from this state of the index."""
        return self.database.rows(statement, values, settings=settings, generation=self.generation)

    @cached_property
    def ids(self) -> Ids:
        """Ids of the documents, ascending."""
        return Ids(id for (id,) in self.rows(self.sql("SELECT id FROM {documents} ORDER BY ordinal", documents=DOCUMENTS)))

    @cached_property
    def numbering(self) -> Numbering:
        """Documents have one number only."""
        return _numbering(self.ids, np.arange(len(self.ids), dtype=np.int32))

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the exported channels in addition to the words."""
        return tuple(self.exported.channels)

    @property
    def distributions(self) -> dict[str, Any]:
        """None: scores of the same channel differ a little, so those of the folder are not valid here."""
        return self.exported.distributions

    def exported_channel(self, name: str) -> ChannelExport:
        """A channel with the figures of its tables."""
        if name not in self.exported.channels:
            known = ", ".join(self.exported.channels) or "none"
            raise UnknownChannelError(f"the index in PostgreSQL has no channel {name!r}; it has {known}; export it again")
        return self.exported.channels[name]

    def channel(self, name: str) -> ChannelState:
        """A channel; its vectors are in tables, not in parts."""
        return ChannelState(self.exported_channel(name).named, [])

    def channel_numbering(self, name: str) -> Numbering:
        """The documents that a channel has."""
        with self._lock:
            if name not in self._numberings:
                exported, held = self.exported_channel(name), np.arange(len(self.ids), dtype=np.int32)
                if exported.documents < len(self.ids):
                    table = channel_tables(name, exported.named.settings.kind)[0]
                    statement = self.sql("SELECT DISTINCT ordinal FROM {table} ORDER BY ordinal", table=table)
                    held = np.array([ordinal for (ordinal,) in self.rows(statement)], dtype=np.int32)
                self._numberings[name] = _numbering(self.ids, held)
            return self._numberings[name]

    def postings(self, channel: str) -> Postings:
        """Refused: the posting lists stay in PostgreSQL."""
        raise ConfigError(f"the posting lists of {self.place} stay in PostgreSQL; use the index folder for this")

    def forget_impacts(self) -> None:
        """Nothing is computed ahead."""

    def channel_bytes(self, name: str) -> int:
        """The bytes of the tables and their indexes."""
        known = self.exported.channels
        names = channel_tables(name, known[name].named.settings.kind) if name in known else [DOCUMENTS, LEXEMES]
        tables = [self.sql("{table}", table=one).as_string(None) for one in names]
        statement = self.database.sql("SELECT sum(pg_total_relation_size(one::regclass))::bigint FROM unnest(%s::text[]) AS one")
        return int(self.rows(statement, [tables])[0][0])

    def coded(self, name: str) -> tuple[I32, list[Any]]:
        """One field of every document: the code of its value, and the distinct values as the catalog has them."""
        if name not in COLUMNS:
            raise UnknownFieldError(f"documents have no field {name!r}; they have {', '.join(COLUMNS)}")
        with self._lock:
            if name not in self._coded:
                statement = "SELECT {field} FROM {documents} ORDER BY ordinal"
                field = self.database.sql(_read(name), field=name)
                table = self.sql("{documents}", documents=DOCUMENTS)
                found = self.rows(self.database.sql(statement, field=field, documents=table))
                self._coded[name] = numbered(_stored(value) for (value,) in found)
            return self._coded[name]

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents in this order; `UnknownDocumentError` for one that is not there."""
        found = {row[0]: document_of(row) for row in self._selected(COLUMNS, ids)}
        for id in ids:
            if id not in found:
                raise UnknownDocumentError(f"the index has no document {id!r}")
        return [found[id] for id in ids]

    def heads(self, ids: Sequence[str]) -> list[Document]:
        """Documents without texts, in this order; unknown ids are skipped."""
        found = {row[0]: document_of((*row, None, "")) for row in self._selected(SHORT, ids)}
        return [found[id] for id in ids if id in found]

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def _selected(self, columns: Sequence[str], ids: Sequence[str]) -> list[Row]:
        from psycopg.sql import SQL

        fields = SQL(", ").join(self.database.sql(_read(name), field=name) for name in columns)
        statement = "SELECT id, {fields} FROM {documents} WHERE id = ANY(%s)"
        table = self.sql("{documents}", documents=DOCUMENTS)
        known = [id for id in ids if "\0" not in id]  # which PostgreSQL cannot have
        rows = self.rows(self.database.sql(statement, fields=fields, documents=table), [known])
        return [(row[0], *map(_stored, row[1:])) for row in rows]


def _read(name: str) -> str:
    return "{field}::text" if name in LISTS or name == "extra" else "{field}"


def _stored(value: Any) -> Any:
    """A value as the catalog of an index folder has it."""
    return value.isoformat() if isinstance(value, datetime.date) else value


def _numbering(ids: Ids, held: I32) -> Numbering:
    return Numbering(ids, np.array([0, len(held)], dtype=np.int64), held)
