"""The retriever of a channel of an index in PostgreSQL, by the kind of the channel."""

from __future__ import annotations

from typing import Any

from lexfuse.channels.channel_kind import ChannelKind
from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.channels.citation import CitationKind
from lexfuse.channels.dense.kind import DenseKind
from lexfuse.channels.lexical.kinds import BM25Kind
from lexfuse.channels.postgres.dense import PostgresDense
from lexfuse.channels.postgres.sparse import PostgresSparse
from lexfuse.channels.postgres.words import PostgresBM25
from lexfuse.channels.sparse.kind import SparseKind
from lexfuse.encode.encoder import Side
from lexfuse.errors import ConfigError
from lexfuse.storage.postgres.snapshot import PostgresSnapshot


def open_in_postgres(
    kind: ChannelKind, snapshot: PostgresSnapshot, channel: str, options: Any, *, name: str, threads: int | None = None
) -> ChannelRetriever:
    """The retriever of a channel; a `ConfigError` for one that PostgreSQL does not search."""
    if isinstance(kind, CitationKind):
        return kind.open(snapshot, channel, options, name=name, threads=threads)  # it needs the fields of documents alone
    if isinstance(kind, BM25Kind):
        if options.choice is not None:
            raise ConfigError("an index in PostgreSQL has no choice of terms (kli, terms); search the index folder with them")
        return PostgresBM25(snapshot, options.k1, options.b, options.idf, options.exact, name=name)
    if isinstance(kind, DenseKind | SparseKind):
        exported = snapshot.exported_channel(channel)
        encoder: Any = kind.encoder(exported.named.settings, Side.QUERY, threads=threads)
        exact = options.exact or not exported.approximate
        if isinstance(kind, DenseKind):
            return PostgresDense(snapshot, encoder, channel, options.pool, exact, name=name)
        cosine = encoder.cosine if options.cosine is None else options.cosine
        return PostgresSparse(snapshot, encoder=encoder, channel=channel, cosine=cosine, exact=exact or cosine, name=name)
    known = ", ".join(("bm25", "citation", *snapshot.channels))
    raise ConfigError(f"an index in PostgreSQL has no channel {channel!r}; it has {known}; search the index folder with it")
