"""The retriever of a channel of an index in PostgreSQL, by the kind of the channel."""

from __future__ import annotations

from typing import Any

from lexfuse.channels.channel_kind import ChannelKind
from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.channels.citation import CitationKind
from lexfuse.channels.dense.kind import DenseKind
from lexfuse.channels.lexical.kinds import BM25Kind, NgramKind, TfIdfKind
from lexfuse.channels.postgres.bm25 import PostgresBM25
from lexfuse.channels.postgres.dense import PostgresDense
from lexfuse.channels.postgres.sparse import PostgresSparse
from lexfuse.channels.postgres.tfidf import PostgresTfIdf
from lexfuse.channels.sparse.kind import SparseKind
from lexfuse.encode.encoder import Side
from lexfuse.errors import ConfigError
from lexfuse.storage.postgres.snapshot import PostgresSnapshot


def open_in_postgres(
    kind: ChannelKind, snapshot: PostgresSnapshot, channel: str, options: Any, *, name: str, threads: int | None = None
) -> ChannelRetriever:
    """The retriever of a channel; a `ConfigError` for one that PostgreSQL does not search."""
    if isinstance(kind, CitationKind | NgramKind):
        return kind.open(snapshot, channel, options, name=name, threads=threads)  # it needs nothing but the documents
    if isinstance(kind, BM25Kind):
        if options.fields:
            raise ConfigError("an index in PostgreSQL has no BM25F (fields); search the index folder with it")
        given = options.k1, options.b, options.idf
        return PostgresBM25(snapshot, *given, choice=options.choice, exact=options.exact, name=name)
    if isinstance(kind, TfIdfKind):
        return PostgresTfIdf(snapshot, name=name)
    if isinstance(kind, DenseKind | SparseKind):
        exported = snapshot.exported_channel(channel)
        encoder: Any = kind.encoder(exported.named.settings, Side.QUERY, threads=threads)
        exact = options.exact or not exported.approximate
        if isinstance(kind, DenseKind):
            return PostgresDense(snapshot, encoder, channel, options.pool, exact, name=name)
        cosine = encoder.cosine if options.cosine is None else options.cosine
        return PostgresSparse(snapshot, encoder=encoder, channel=channel, cosine=cosine, exact=exact or cosine, name=name)
    raise ConfigError(f"PostgreSQL does not search channels of the kind {kind.name!r}; search the index folder with {channel!r}")
