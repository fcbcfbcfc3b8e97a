"""Addresses of indexes in PostgreSQL: the schema is ours, the rest is for libpq, and no password is ever shown."""

from pathlib import Path

import pytest

from lexfuse.errors import ConfigError
from lexfuse.storage.postgres.address import PostgresAddress, index_location

SECRET = "s3cr3t!"  # noqa: S105


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:s3cr3t%21@db:5433/law", "postgresql://me@db:5433/law?schema=lexfuse"),
        ("postgres://me@db/law?schema=labour", "postgres://me@db/law?schema=labour"),
        ("postgresql:///law?host=/run/pg&password=s3cr3t%21", "postgresql:///law?host=/run/pg&schema=lexfuse"),
        ("postgresql://db/law?sslmode=require&schema=a%20b", "postgresql://db/law?sslmode=require&schema=a b"),
    ],
)
def test_an_address_is_shown_without_its_password(text, shown):
    address = PostgresAddress.parse(text)
    assert str(address) == shown
    assert "s3cr3t" not in repr(address) + str(address)
    assert "schema" not in address.uri
    assert address.password in ("", SECRET)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:s3cr3t@[db/law",
        "postgresql://me:s3cr3t@db:port/law",
        "postgresql://me:s3cr3t@db/law?x",
        "postgresql://me:12#s3cr3t@db/law",
        "postgresql://me:12/s3cr3t@db/law",
        "postgresql://me:12?s3cr3t@db/law",
    ],
)
def test_what_cannot_be_read_is_refused_without_being_quoted(text):
    with pytest.raises(ConfigError, match="the PostgreSQL address cannot be read") as refused:
        PostgresAddress.parse(text)
    assert "s3cr3t" not in str(refused.value)


@pytest.mark.parametrize("text", ["postgresql:///law?host=%2Frun", "postgresql://", "postgres://me@/law"])
def test_an_address_without_a_host_keeps_its_slashes(text):
    assert PostgresAddress.parse(text).uri == text


@pytest.mark.parametrize("schema", ["", "pg_catalog", "public", "information_schema", "x" * 51, "%25s", "nul%00"])
def test_schemas_that_cannot_hold_an_index(schema):
    with pytest.raises(ConfigError, match="schema"):
        PostgresAddress.parse(f"postgresql://db/law?schema={schema}")


def test_two_schemas():
    with pytest.raises(ConfigError, match="give schema= once"):
        PostgresAddress.parse("postgresql://db/law?schema=a&schema=b")


def test_folders_and_addresses():
    assert index_location("law.index") == Path("law.index")
    assert index_location(Path("postgresql.index")) == Path("postgresql.index")
    assert index_location("PostgreSQL://db/law") == PostgresAddress("postgresql://db/law")
    assert PostgresAddress.parse("postgresql://db/law").name == "law"
    assert PostgresAddress.parse("postgresql://db/law?schema=labour").name == "labour"
