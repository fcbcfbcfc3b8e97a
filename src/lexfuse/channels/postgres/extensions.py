"""The extensions of a server that an export needs or uses: pgvector and pg_textsearch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.errors import ConfigError
from lexfuse.storage.postgres.database import Database, Row

if TYPE_CHECKING:
    from psycopg import Connection

VECTOR, TEXTSEARCH = "vector", "pg_textsearch"


def prepare_extensions(database: Database, connection: Connection[Row], *, vectors: bool) -> bool:
    """Make sure that pgvector is there if it is needed; whether pg_textsearch is.

    Extensions that the server has are created, if the role may do so.
    """
    if vectors and not _created(database, connection, VECTOR):
        raise ConfigError(
            f"{database.address} has no extension pgvector; install it on the server, and run CREATE EXTENSION vector as a role "
            "that may"
        )
    found = _created(database, connection, TEXTSEARCH)
    database.find_extensions(connection)
    return found


def _created(database: Database, connection: Connection[Row], extension: str) -> bool:
    from psycopg import Error

    if database.execute(connection, "SELECT 1 FROM pg_extension WHERE extname = %s", extension):
        return True
    if not database.execute(connection, "SELECT 1 FROM pg_available_extensions WHERE name = %s", extension):
        return False
    try:
        with connection.transaction():
            database.execute(connection, "CREATE EXTENSION {extension} SCHEMA public", extension=extension)
    except Error:  # no right to, or it is not among shared_preload_libraries
        return False
    return True
