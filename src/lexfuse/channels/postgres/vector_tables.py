"""The tables of dense and learned sparse channels, and their HNSW indexes.

A channel with a vector above the limits of HNSW gets no such index and is searched exactly.
"""

from __future__ import annotations

from lexfuse.channels.postgres.hnsw import BUILD
from lexfuse.channels.postgres.table_writer import TableWriter
from lexfuse.channels.postgres.vector_rows import dense_rows, sparse_rows
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.postgres.tables import DENSE, ChannelExport, terms_table, vectors_table, weights_table

INDEXED_NUMBERS, INDEXED_TERMS = 2000, 1000  # of a dense and of a sparse vector in an HNSW index: limits of pgvector
_PLAIN_NUMBERS = 1900  # of a vector that fits a page of 8 KiB: kept in the row, which is faster to scan


def write_channel(writer: TableWriter, snapshot: FolderSnapshot, channel: str, *, hnsw: bool) -> ChannelExport:
    """The tables of a channel, with an HNSW index if it is asked for."""
    write = _write_dense if snapshot.channel(channel).named.settings.kind == DENSE else _write_sparse
    return write(writer, snapshot, channel, hnsw)


def _write_dense(writer: TableWriter, snapshot: FolderSnapshot, channel: str, hnsw: bool) -> ChannelExport:
    # The order of the ids has the number in PostgreSQL of every document of the snapshot.
    found, table = dense_rows(snapshot, channel, snapshot.ids.order), writer.new(vectors_table(channel))
    hnsw = hnsw and found.size <= INDEXED_NUMBERS
    columns = "ordinal integer, passage integer, starts integer, ends integer, embedding"
    writer.execute(f"CREATE TABLE {{table}} ({columns} vector({found.size:d}))", table=table)
    if found.size <= _PLAIN_NUMBERS:
        writer.execute("ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE PLAIN", table=table)
    writer.copy(table, found.rows, ("int4", "int4", "int4", "int4", "bytea"))
    writer.execute("ALTER TABLE {table} ADD PRIMARY KEY (ordinal, passage)", table=table)
    if hnsw:
        _make_hnsw(writer, table, "embedding vector_ip_ops")
    return ChannelExport(snapshot.channel(channel).named, found.documents, found.size, found.longest, hnsw)


def _write_sparse(writer: TableWriter, snapshot: FolderSnapshot, channel: str, hnsw: bool) -> ChannelExport:
    found, table, terms = sparse_rows(snapshot, channel, snapshot.ids.order), weights_table(channel), terms_table(channel)
    hnsw = hnsw and found.largest <= INDEXED_TERMS
    size, weights = max(len(found.terms), 1), writer.new(table)
    writer.execute(f"CREATE TABLE {{table}} (ordinal integer, weights sparsevec({size:d}), length real)", table=weights)
    writer.copy(weights, found.rows, ("int4", "bytea", "float4"))
    writer.execute("ALTER TABLE {table} ADD PRIMARY KEY (ordinal)", table=weights)
    writer.execute("CREATE TABLE {table} (place integer PRIMARY KEY, term text)", table=writer.new(terms))
    writer.copy(writer.new(terms), enumerate(found.terms), ("int4", "text"))
    if hnsw:
        _make_hnsw(writer, weights, "weights sparsevec_ip_ops")
    return ChannelExport(snapshot.channel(channel).named, found.documents, size, 0.0, hnsw)


def _make_hnsw(writer: TableWriter, table: tuple[str, str], column: str) -> None:
    writer.execute(f"CREATE INDEX ON {{table}} USING hnsw ({column}) WITH ({BUILD})", table=table)
