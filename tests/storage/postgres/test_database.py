"""Connections that fail say why and what to do, and never the password."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from lexfuse.deadline import Deadline, limited
from lexfuse.errors import ConfigError, DeadlineError, LexFuseError, StorageError
from lexfuse.storage.postgres.address import PostgresAddress
from lexfuse.storage.postgres.database import KEPT_CONNECTIONS, Database

pytestmark = pytest.mark.usefixtures("psycopg")
PATIENCE = 300  # seconds after which something will not happen any more


def rows(uri, text="SELECT 1"):
    database = Database(PostgresAddress.parse(uri))
    try:
        return database.rows(database.sql(text))
    finally:
        database.close()


def accepted(uri):
    try:
        return rows(uri) == [(1,)]
    except StorageError:
        return False


def test_nobody_listens():
    with pytest.raises(StorageError, match=r"cannot connect to postgresql://me@127\.0\.0\.1:1/law.*check host, port") as refused:
        rows("postgresql://me:s3cr3t@127.0.0.1:1/law")
    assert "s3cr3t" not in str(refused.value)


def test_an_option_that_libpq_does_not_know():
    with pytest.raises(ConfigError, match="not valid for libpq") as refused:
        rows("postgresql://me:s3cr3t@127.0.0.1:1/law?s3cr3t=1")
    assert "s3cr3t" not in str(refused.value)


def test_an_address_without_a_host(postgres_server):
    folder = parse_qs(urlsplit(postgres_server).query)["host"][0]
    assert rows(f"postgresql:///postgres?host={folder}&user=postgres") == [(1,)]


def test_a_database_that_is_not_there(postgres_server):
    with pytest.raises(StorageError, match=r'database "nowhere" does not exist.*check host'):
        rows(postgres_server.replace("/postgres?", "/nowhere?"))


def test_a_wrong_password(psycopg, postgres_server):
    folder = Path(parse_qs(urlsplit(postgres_server).query)["host"][0])
    rules = folder / "pg_hba.conf"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        rules.write_text("local all guarded scram-sha-256\n" + rules.read_text("utf-8"), encoding="utf-8")
        connection.execute("SELECT pg_reload_conf()")
    guarded, end = postgres_server.replace("postgres:@", "guarded:{}@"), time.monotonic() + PATIENCE
    while accepted(guarded.format("another")):  # until the server has read its rules again
        assert time.monotonic() < end
    assert rows(guarded.format("right")) == [(1,)]
    with pytest.raises(StorageError, match=r"password authentication failed.*PGPASSWORD or a password file") as refused:
        rows(guarded.format("s3cr3t"))
    assert "s3cr3t" not in str(refused.value)


def test_a_statement_that_fails_leaves_the_connection_usable(postgres_server):
    database = Database(PostgresAddress.parse(postgres_server))
    with pytest.raises(LexFuseError, match="division by zero"):
        database.rows(database.sql("SELECT 1 / 0"))
    assert database.rows(database.sql("SELECT %s::text"), ["'; --"]) == [("'; --",)]
    assert database._idle.qsize() == 1
    database.close()


def test_connections_that_the_server_has_ended_are_made_again(psycopg, postgres_server):
    database = Database(PostgresAddress.parse(postgres_server))
    [(own,)] = database.rows(database.sql("SELECT pg_backend_pid()"))
    with psycopg.connect(postgres_server) as connection:
        assert connection.execute("SELECT pg_terminate_backend(%s, %s)", (own, 1000 * PATIENCE)).fetchone() == (True,)
    [(other,)] = database.rows(database.sql("SELECT pg_backend_pid()"))
    assert other != own
    database.close()


def test_the_server_stops_at_the_deadline(postgres_server):
    database = Database(PostgresAddress.parse(postgres_server))
    with pytest.raises(DeadlineError, match="not done within"), limited(Deadline(0.5)):
        database.rows(database.sql("SELECT pg_sleep(3600)"))
    assert database.rows(database.sql("SHOW statement_timeout")) == [("0",)]
    database.close()


def test_names_are_quoted():
    assert Database.sql("SELECT 1 FROM {table}", table=('a"b', "c")).as_string(None) == 'SELECT 1 FROM "a""b"."c"'


def test_many_threads_share_a_few_connections(postgres_server):
    database = Database(PostgresAddress.parse(postgres_server))
    together = threading.Barrier(2 * KEPT_CONNECTIONS)

    def ask(number):
        with database.connected() as connection:
            together.wait(PATIENCE)  # all are taken at the same time
            return connection.execute("SELECT %s::int", (number,)).fetchone()

    with ThreadPoolExecutor(2 * KEPT_CONNECTIONS) as threads:
        assert list(threads.map(ask, range(2 * KEPT_CONNECTIONS))) == [(number,) for number in range(2 * KEPT_CONNECTIONS)]
    assert database._idle.qsize() == KEPT_CONNECTIONS
    database.close()


def test_settings_hold_for_one_statement(postgres_server):
    database = Database(PostgresAddress.parse(postgres_server))
    show = database.sql("SHOW enable_sort")
    assert database.rows(show, settings={"enable_sort": "off"}) == [("off",)]
    assert database.rows(show) == [("on",)]
    database.close()
