"""The tables of an index in PostgreSQL: their names and columns, and the row that describes them.

| table | a row is |
|---|---|
| settings | the export: number of the format, generation, and everything else as JSON |
| documents | a document: its fields, and `words`, the text that its words are searched in |
| lexemes | a lexeme of PostgreSQL's text search: in how many documents, how often; which ones, their counts and lengths |
| vectors of NAME | a passage of a dense channel: document, place in the text, `vector` |
| weights of NAME | a document of a learned sparse channel: `sparsevec`, and the length of that vector |
| terms of NAME | a term of a learned sparse channel: its place in the vectors |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lexfuse.errors import DataError, StorageError, UnknownIndexError
from lexfuse.storage.catalog import CatalogChannel
from lexfuse.storage.document_rows import DATES, LISTS, WORDS
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.postgres.database import Database
from lexfuse.storage.stored_channel import ChannelSettings

FORMAT = 2
SETTINGS, DOCUMENTS, LEXEMES = "settings", "documents", "lexemes"
DENSE, SPARSE = "dense", "sparse"  # kinds of channels that have tables

_TYPES = {name: "text" for name in WORDS} | {name: "date" for name in DATES} | {name: "jsonb" for name in LISTS}
FIELDS = {"ordinal": "integer", "id": 'text COLLATE "C"', **_TYPES, "extra": "jsonb", "text": "text"}


def vectors_table(channel: str) -> str:
    """The table of a dense channel."""
    return f"vectors of {channel}"


def weights_table(channel: str) -> str:
    """The table of a learned sparse channel."""
    return f"weights of {channel}"


def terms_table(channel: str) -> str:
    """The vocabulary of a learned sparse channel."""
    return f"terms of {channel}"


class WordsExport(NamedTuple):
    """How words are searched: PostgreSQL's text search configuration, and the BM25 index, if the server has that extension."""

    config: str
    bm25_index: str  # the name of the index of pg_textsearch; empty without it
    k1: float  # of that index
    b: float
    mean_length: float  # lexemes of a document

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> WordsExport:
        """From plain values; others are a `DataError`."""
        try:
            return cls(**{name: _TYPED[name](values[name]) for name in cls._fields})
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(str(error)) from None


_TYPED = {"config": str, "bm25_index": str, "k1": float, "b": float, "mean_length": float}


class ChannelExport(NamedTuple):
    """A channel in PostgreSQL."""

    named: CatalogChannel
    documents: int
    size: int  # numbers of a dense vector, terms of a sparse one
    longest: float  # length of the longest dense vector
    approximate: bool  # whether it has an HNSW index

    @classmethod
    def from_json(cls, name: str, values: Mapping[str, Any]) -> ChannelExport:
        """From plain values; others are a `DataError`."""
        try:
            settings = ChannelSettings.from_json(dict(values["settings"]))
            named = CatalogChannel(name, settings, int(values["passages"]), int(values["cut"]), float(values["seconds"]))
            numbers = int(values["documents"]), int(values["size"]), float(values["longest"]), bool(values["approximate"])
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(str(error)) from None
        return cls(named, *numbers)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        named = self.named
        described = {"settings": named.settings.as_json(), "passages": named.passages, "cut": named.cut, "seconds": named.seconds}
        return described | {name: getattr(self, name) for name in self._fields[1:]}


def channel_tables(name: str, kind: str) -> list[str]:
    """The tables of a channel, first the one with a row for each document or passage.

    >>> channel_tables("splade", SPARSE)
    ['weights of splade', 'terms of splade']
    """
    return [vectors_table(name)] if kind == DENSE else [weights_table(name), terms_table(name)]


def index_tables(channels: Mapping[str, str]) -> list[str]:
    """The tables of an index with channels of these names and kinds."""
    return [SETTINGS, DOCUMENTS, LEXEMES, *(table for name, kind in channels.items() for table in channel_tables(name, kind))]


class ExportedIndex(NamedTuple):
    """What the row of the settings says."""

    generation: int
    source: str  # name and state of the index that was exported, and how
    settings: IndexSettings
    words: WordsExport
    channels: dict[str, ChannelExport]
    distributions: dict[str, Any]

    @property
    def tables(self) -> list[str]:
        """The names of its tables."""
        return index_tables({name: channel.named.settings.kind for name, channel in self.channels.items()})

    def as_json(self) -> dict[str, Any]:
        """Plain values, without the generation."""
        return {
            "source": self.source,
            "settings": self.settings.as_json(),
            "words": self.words._asdict(),
            "channels": {name: channel.as_json() for name, channel in self.channels.items()},
            "distributions": self.distributions,
        }


def read_export(database: Database) -> ExportedIndex:
    """The index that a schema has; `UnknownIndexError` if it has none."""
    schema, place = database.address.schema, str(database.address)
    name = database.sql("{table}", table=(schema, SETTINGS)).as_string(None)
    columns = "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
    found = {column for (column,) in database.rows(database.sql(columns), [name])}
    if not found:
        advice = "export one with lexfuse export postgres, or name another schema with ?schema="
        raise UnknownIndexError(f"no index in {place}; {advice}")
    if found != {"format", "generation", "content"}:
        raise foreign_table(database, SETTINGS)
    statement = "SELECT format, generation, content FROM {table}"
    rows = database.rows(database.sql(statement, table=(schema, SETTINGS)))
    if len(rows) != 1 or not isinstance(rows[0][2], dict):
        raise _damaged("settings has not one row")
    version, generation, content = rows[0]
    if version != FORMAT:
        raise DataError(f"the index in {place} has format {version}, this LexFuse reads {FORMAT}; export it again")
    try:
        channels = {channel: ChannelExport.from_json(channel, values) for channel, values in content["channels"].items()}
        settings, words = IndexSettings.from_json(content["settings"]), WordsExport.from_json(content["words"])
        return ExportedIndex(generation, str(content["source"]), settings, words, channels, dict(content["distributions"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise _damaged(str(error)) from None


def read_generation(database: Database) -> int:
    """The number of the export that a schema has now."""
    return read_export(database).generation


def is_index_table(name: str) -> bool:
    """Whether a table of a schema that has an index is one of the index, by its name.

    >>> is_index_table("vectors of dense"), is_index_table("invoices")
    (True, False)
    """
    return name in index_tables({}) or name.startswith(("vectors of ", "weights of ", "terms of "))


def foreign_table(database: Database, table: str) -> StorageError:
    """The error for a table of another program in the way of an index."""
    return StorageError(f"{database.address} has a table {table!r} that LexFuse did not write; name another schema with ?schema=")


def _damaged(reason: str) -> DataError:
    return DataError(f"the settings of the index in PostgreSQL are damaged ({reason}); export the index again")
