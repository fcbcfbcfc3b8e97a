"""Connections to PostgreSQL: a few are kept open, statements have bound values, and errors say what to do.

Messages never quote the address: it may have a password.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, Full, LifoQueue
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any

from lexfuse.deadline import current
from lexfuse.dependencies import Extra
from lexfuse.errors import ConfigError, GoneError, LexFuseError, StorageError
from lexfuse.storage.postgres.address import PostgresAddress

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed

Row = tuple[Any, ...]
Values = Sequence[Any]

_CONNECT_SECONDS = 10
KEPT_CONNECTIONS = 8


class Database:
    """A database in which an index is, or will be; many threads may read at once."""

    def __init__(self, address: PostgresAddress) -> None:
        """Connect to nothing yet."""
        Extra.POSTGRES.require("an index in PostgreSQL")
        self.address = address
        self._idle: LifoQueue[Connection[Row]] = LifoQueue(KEPT_CONNECTIONS)
        self._closed = False

    @staticmethod
    def sql(text: str, **names: str | tuple[str, ...] | Composed) -> Composed:
        """A statement in which ``{name}`` is replaced by a quoted name, or by quoted names with dots between."""
        from psycopg.sql import SQL, Composed, Identifier

        quoted = {
            name: value if isinstance(value, Composed) else Identifier(*((value,) if isinstance(value, str) else value))
            for name, value in names.items()
        }
        return SQL(text).format(**quoted)  # every text is a constant of this package

    @classmethod
    def execute(cls, connection: Connection[Row], text: str, *values: Any, **names: Any) -> list[Row]:
        """The rows of a statement on a connection; ``{name}`` is replaced as in `sql`, values are bound."""
        cursor = connection.execute(cls.sql(text, **names), values or None, prepare=False)
        return cursor.fetchall() if cursor.description else []

    def rows(
        self,
        statement: Composed,
        values: Values | Mapping[str, Any] = (),
        *,
        settings: Mapping[str, str] | None = None,
        generation: int | None = None,
    ) -> list[Row]:
        """The rows of one statement; `settings` of the server hold for it alone. The server stops at the deadline of the call.

        With a generation, `GoneError` if the index has been exported again since.
        """
        given, deadline = dict(settings or {}), current()
        if deadline is not None:
            deadline.check()
            given["statement_timeout"] = str(max(1, round(1000 * deadline.left)))
        with self.connected() as connection, connection.pipeline(), connection.transaction():
            for name, value in given.items():
                connection.execute("SELECT set_config(%s, %s, true)", (name, value))
            cursor = connection.execute(statement, values, prepare=False)
            check = self.sql("SELECT generation FROM {table}", table=(self.address.schema, "settings"))
            now = None if generation is None else connection.execute(check)
            found = cursor.fetchall()
            if now is not None and now.fetchone() != (generation,):
                raise GoneError("the index in PostgreSQL was exported again since it was opened; open it again")
            return found

    @contextmanager
    def connected(self) -> Iterator[Connection[Row]]:
        """A connection for one piece of work; what fails in it is a `LexFuseError`."""
        import psycopg

        connection: Connection[Row] | None = None
        try:
            connection = self._taken()
            yield connection
        except psycopg.Error as error:
            raise self._explained(error) from None
        finally:
            if connection is not None:
                self._put_back(connection)

    def close(self) -> None:
        """Close the connections that are not in use; those in use are closed when they are put back."""
        self._closed = True
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def _taken(self) -> Connection[Row]:
        import psycopg

        while True:
            try:
                connection = self._idle.get_nowait()
            except Empty:
                break
            if not connection.closed and _is_quiet(connection):
                return connection
            connection.close()
        given = psycopg.conninfo.conninfo_to_dict(self.address.uri)
        limit: dict[str, Any] = {} if "connect_timeout" in given else {"connect_timeout": _CONNECT_SECONDS}
        connection = psycopg.connect(self.address.uri, autocommit=True, application_name="lexfuse", **limit)
        self.find_extensions(connection)
        return connection

    @staticmethod
    def find_extensions(connection: Connection[Row]) -> None:
        """Look for types and operators where the extensions are, and nowhere else: tables have the names of their schemas."""
        connection.execute(
            "SELECT set_config('search_path', coalesce(string_agg(quote_ident(nspname), ','), 'pg_catalog'), false)"
            " FROM (SELECT DISTINCT nspname FROM pg_extension JOIN pg_namespace AS own ON own.oid = extnamespace"
            " WHERE extname IN ('vector', 'pg_textsearch')) AS found"
        )

    def _put_back(self, connection: Connection[Row]) -> None:
        from psycopg.pq import TransactionStatus

        idle = not connection.closed and connection.info.transaction_status is TransactionStatus.IDLE
        try:
            if idle and not self._closed:
                self._idle.put_nowait(connection)
                return
        except Full:
            pass
        connection.close()

    def _explained(self, error: Exception) -> LexFuseError:
        """An error of the driver with what to do about it."""
        from psycopg import OperationalError, ProgrammingError, errors

        reason, place = self._shown(error), str(self.address)
        if isinstance(error, errors.InsufficientPrivilege):
            return StorageError(f"{place}: {reason}; grant the role the right, or connect as another one")
        if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName | errors.UndefinedColumn):
            return StorageError(f"{place}: {reason}; export the index again with lexfuse export postgres")
        if isinstance(error, errors.QueryCanceled) and (deadline := current()) is not None and deadline.passed:
            return deadline.error()
        if isinstance(error, errors.QueryCanceled):
            return StorageError(f"{place}: {reason}; raise the server's statement_timeout for this role")
        if isinstance(error, OperationalError) and error.sqlstate is None:
            advice = "check host, port, database, role and password (PGPASSWORD or a password file), and that the server runs"
            return StorageError(f"cannot connect to {place}: {reason}; {advice}")
        if isinstance(error, ProgrammingError) and error.sqlstate is None:
            return ConfigError("the PostgreSQL address is not valid for libpq; write postgresql://USER@HOST:PORT/DATABASE")
        return StorageError(f"{place}: {reason}; the server's log may say more")

    def _shown(self, error: Exception) -> str:
        """The first line of a message, without the password."""
        from psycopg import Error

        primary = error.diag.message_primary if isinstance(error, Error) else None
        text = " ".join((primary or str(error)).split()) or type(error).__name__
        password = self.address.password
        return text.replace(password, "***") if password else text


def _is_quiet(connection: Connection[Row]) -> bool:
    """Whether the server has said nothing since the last answer: what it says to an idle connection is that it has ended it."""
    with DefaultSelector() as waiting:
        waiting.register(connection.fileno(), EVENT_READ)
        return not waiting.select(0)
