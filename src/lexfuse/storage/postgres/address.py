"""The address of an index in PostgreSQL: a connection URI with the name of a schema, shown without its password."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from lexfuse.errors import ConfigError

SCHEMA = "lexfuse"  # where none is named
_SCHEME = re.compile(r"postgres(ql)?://", re.IGNORECASE)
_MANGLED = re.compile(r"postgres(ql)?:/", re.IGNORECASE)  # the same as a path, which has no empty parts
_LONGEST_NAME = 50  # bytes of a schema: PostgreSQL cuts names off after 63, and a replaced schema gets a suffix
_SECRETS = ("password", "sslpassword", "passfile")


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where an index is: a database, and a schema in it.

    It is written as a connection URI of libpq, with one more parameter for the schema. Passwords are better kept in a password
    file or in PGPASSWORD; one in the URI is never shown.

    >>> address = PostgresAddress.parse("postgresql://reader:secret@db.example/law?schema=labour&connect_timeout=5")
    >>> str(address), address.schema
    ('postgresql://reader@db.example/law?connect_timeout=5&schema=labour', 'labour')
    """

    uri: str = field(repr=False)  # for libpq; it may have a password
    schema: str = SCHEMA

    @classmethod
    def parse(cls, text: str) -> PostgresAddress:
        """The address that a text is; `ConfigError` says what is wrong with it, without quoting it.

        >>> PostgresAddress.parse("postgresql://reader:secret@[db/law")
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: the PostgreSQL address cannot be read; write postgresql://USER@HOST:PORT/DATABASE?schema=...
        """
        try:
            parts = urlsplit(text)
            options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
            _ = parts.port
        except ValueError:
            raise _unreadable() from None
        if parts.fragment or "@" in parts.path:  # the end of a password, which would be shown
            raise _unreadable()
        schemas = [value for name, value in options if name == "schema"]
        if len(schemas) > 1:
            raise ConfigError("the PostgreSQL address names several schemas; give schema= once")
        others = "&".join(f"{quote(name)}={quote(value, safe='')}" for name, value in options if name != "schema")
        schema = schemas[0] if schemas else SCHEMA
        place = f"{parts.scheme}://{parts.netloc}{parts.path}"  # libpq needs both slashes, also without a host
        return cls(f"{place}?{others}" if others else place, _checked_schema(schema))

    @property
    def password(self) -> str:
        """The password in the URI, empty if it has none."""
        parts = urlsplit(self.uri)
        return unquote(parts.password or "") or dict(parse_qsl(parts.query)).get("password", "")

    @property
    def name(self) -> str:
        """What the index is called: its schema, or its database if the schema has the usual name."""
        database = unquote(urlsplit(self.uri).path.removeprefix("/"))
        return self.schema if self.schema != SCHEMA else database or self.schema

    def __str__(self) -> str:
        """The address without passwords."""
        parts = urlsplit(self.uri)
        user, _, host = parts.netloc.rpartition("@")
        shown = f"{user.partition(':')[0]}@{host}" if user else host
        options = [(name, value) for name, value in parse_qsl(parts.query) if name not in _SECRETS]
        query = "&".join(f"{name}={value}" for name, value in [*options, ("schema", self.schema)])
        return f"{parts.scheme}://{shown}{parts.path}?{query}"


def index_location(text: str | Path | PostgresAddress) -> Path | PostgresAddress:
    """Where an index is: an address in PostgreSQL, or else a folder.

    >>> index_location("law.index"), str(index_location("postgresql://db/law"))
    (PosixPath('law.index'), 'postgresql://db/law?schema=lexfuse')
    """
    if isinstance(text, str) and _SCHEME.match(text):
        return PostgresAddress.parse(text)
    return Path(text) if isinstance(text, str) else text


def refuse_address(paths: Iterable[Path]) -> None:
    """Refuse an address where an index folder is expected; it is not quoted, since it may have a password.

    >>> refuse_address([Path("law.index"), Path("postgresql://me:secret@db/law")])
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: an index folder was expected, not an address; an index in PostgreSQL is only read: ...
    """
    if any(_MANGLED.match(str(path)) for path in paths):
        advice = "change its index folder, and export it again with lexfuse export postgres"
        raise ConfigError(f"an index folder was expected, not an address; an index in PostgreSQL is only read: {advice}")


def _unreadable() -> ConfigError:
    usage = "write postgresql://USER@HOST:PORT/DATABASE?schema=NAME, and #, @, / and ? in a password as %23, %40, %2F and %3F"
    return ConfigError(f"the PostgreSQL address cannot be read; {usage}")


def _checked_schema(schema: str) -> str:
    if not schema or "\0" in schema or len(schema.encode()) > _LONGEST_NAME:
        raise ConfigError(f"the name of a schema has 1 to {_LONGEST_NAME} bytes, got {len(schema.encode())}; choose another")
    if "%" in schema:
        raise ConfigError("the name of a schema cannot have a percent sign; choose another")
    if schema.startswith("pg_") or schema in ("public", "information_schema"):
        raise ConfigError(f"the schema {schema!r} cannot hold an index alone; choose another name, such as {SCHEMA}")
    return schema
