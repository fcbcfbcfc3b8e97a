"""The settings of the service: from flags, the environment (``LEXFUSE_SERVE_…``) and a TOML file, in order of priority.

Unknown names are refused everywhere, because a misspelt limit that is ignored is no limit.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, PlainSerializer, ValidationError, field_validator

from lexfuse.data.files import decode, read_bytes
from lexfuse.data.formats.toml_text import to_toml
from lexfuse.errors import ConfigError, DataError
from lexfuse.service.registry import IndexPlace
from lexfuse.storage.postgres.address import PostgresAddress, index_location

PREFIX = "LEXFUSE_SERVE_"


class InterfaceLanguage(StrEnum):
    """The default language of pages, for readers and browsers that ask for none."""

    ENGLISH = "en"
    FRENCH = "fr"


class SettingOrigin(StrEnum):
    """The source of a setting."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


class IndexSetting(BaseModel):
    """An index folder or PostgreSQL address, with its name in addresses and its title; by default both come from the place.

    >>> IndexSetting(folder=Path("law/labour.index"), title="Labour law").place().name
    'labour'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Annotated[InstanceOf[Path] | InstanceOf[PostgresAddress], BeforeValidator(index_location), PlainSerializer(str)]
    name: str = Field(default="", pattern=r"^[\w.\-]{0,64}$")
    title: str = ""
    titles: dict[str, str] = Field(default={}, description="Titles by language: fr, en.")
    examples: tuple[str, ...] = Field(default=(), description="Questions that the start page proposes.")

    def place(self) -> IndexPlace:
        """The same for the registry."""
        usual = IndexPlace.of(self.folder)
        return IndexPlace(self.name or usual.name, self.folder, self.title or usual.title, self.titles, self.examples)


class ServiceSettings(BaseModel):
    """All settings of the service; the constructor reads neither files nor the environment.

    >>> ServiceSettings(port=0).host
    '127.0.0.1'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    indexes: tuple[IndexSetting, ...] = ()
    profiles: tuple[Path, ...] = ()
    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8080, ge=0, le=65535)
    tls_certificate: Path | None = None  # a PEM file with its chain; with tls_key the service speaks HTTPS
    tls_key: Path | None = None
    title: str = "LexFuse"
    language: InterfaceLanguage = InterfaceLanguage.ENGLISH
    advice: tuple[Path, ...] = ()  # folders of advice reports, for the experiments page
    keys: Path | None = None  # file of `lexfuse keys`; without it, writing is disabled
    anonymous_read: bool = True
    anonymous_judging: bool = False  # judge results and list all judgements without a key
    requests_per_minute: int = Field(default=600, ge=0)  # per key, or per address without a key; 0 = no limit
    burst: int = Field(default=60, ge=1)  # requests at once
    max_body_bytes: int = Field(default=8_000_000, ge=1)
    max_query_characters: int = Field(default=20_000, ge=1)  # longer texts go to /v1/similar
    timeout_seconds: float = Field(default=30.0, gt=0)
    workers: int = Field(default_factory=lambda: max(2, os.cpu_count() or 1), ge=1)  # search threads
    search_processes: int = Field(default=0, ge=0)  # processes that search; 0 = the threads do
    max_waiting: int = Field(default=64, ge=0)  # requests waiting for a thread
    max_connections: int = Field(default=1000, ge=1)  # fewer if the limit of open files is lower
    header_seconds: float = Field(default=10.0, gt=0)  # for a client to send the head of a request, and to read on
    shutdown_seconds: float = Field(default=10.0, ge=0)  # for running requests to finish
    reload_seconds: float = Field(default=2.0, ge=0)  # between checks for a newer version of an index; 0 = never
    log_queries: bool = False
    client_header: str = ""  # header of a trusted proxy with the client's address
    allowed_hosts: tuple[str, ...] = ()  # host names to answer to; empty = any, or loopback names on loopback

    @property
    def search_threads(self) -> int:
        """Threads that search, or wait for a process that does."""
        return self.workers + self.search_processes

    @field_validator("profiles", "advice", "allowed_hosts", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        """A list, or a text with commas, as in the environment."""
        return [part for one in value.split(",") if (part := one.strip())] if isinstance(value, str) else value

    @field_validator("indexes", mode="before")
    @classmethod
    def _indexes(cls, value: Any) -> Any:
        """Folders, NAME=FOLDER, or tables with folder, name and title."""
        listed = cls._listed(value)
        return [_served(one) for one in listed] if isinstance(listed, list | tuple) else listed


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and the source of each.

    >>> LoadedSettings(ServiceSettings(port=0), {"port": SettingOrigin.FLAG}).origin("host").value
    'default'
    """

    settings: ServiceSettings
    origins: Mapping[str, SettingOrigin]

    def origin(self, name: str) -> SettingOrigin:
        """The source of a setting."""
        return self.origins.get(name, SettingOrigin.DEFAULT)

    def text(self) -> str:
        """The settings as TOML with their sources; the text is also a file for ``--config``.

        No setting is a secret: the file of keys contains only hashes.

        >>> print(LoadedSettings(ServiceSettings(port=0), {"port": SettingOrigin.FLAG}).text())
        indexes = []                                 # default
        ...
        port = 0                                     # flag
        ...
        """
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        indexes = [{**asdict(place), "folder": str(place.folder)} for place in map(IndexSetting.place, self.settings.indexes)]
        for name, value in (self.settings.model_dump(mode="json") | {"indexes": indexes}).items():
            line = f"# {name} is not set" if value is None else _inline(name, value)
            yield f"{line:<44} # {self.origin(name).value}"


def load_settings(flags: Mapping[str, Any], file: Path | None = None) -> LoadedSettings:
    """The settings from flags, the environment, a file and the defaults; a flag of None was not given.

    Paths in the file are relative to its folder.

    >>> load_settings({"port": 0}).settings.port
    0
    >>> load_settings({"prot": 0})
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: there is no setting 'prot' (flag); there are indexes, profiles, host, port, ...
    """
    sources = {
        SettingOrigin.FLAG: {name: value for name, value in flags.items() if value is not None},
        SettingOrigin.ENVIRONMENT: _environment(),
        SettingOrigin.FILE: _file(file) if file else {},
    }
    values: dict[str, Any] = {}
    origins: dict[str, SettingOrigin] = {}
    for origin, given in sources.items():
        for name, value in given.items():
            if name not in ServiceSettings.model_fields:
                known = ", ".join(ServiceSettings.model_fields)
                raise ConfigError(f"there is no setting {name!r} ({_where(name, origin, file)}); there are {known}")
            if name not in values:
                values[name], origins[name] = value, origin
    try:
        return LoadedSettings(ServiceSettings(**values), origins)
    except ValidationError as error:
        raise ConfigError(_reasons(error, origins, file)) from None


def _environment() -> dict[str, str]:
    return {name[len(PREFIX) :].lower(): value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}


def _file(path: Path) -> dict[str, Any]:
    text = decode(read_bytes(path), path=path)
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"not valid TOML: {error}", path=path) from None
    return {name: _absolute(path.parent, name, value) for name, value in values.items()}


def _absolute(folder: Path, name: str, value: Any) -> Any:
    """A value of the file, with paths relative to its folder."""
    if name == "indexes" and isinstance(value, list):
        return [_absolute_index(folder, _served(one)) for one in value]
    if name in ("profiles", "advice") and isinstance(value, list):
        return [folder / one if isinstance(one, str) else one for one in value]
    return folder / value if name in ("keys", "tls_certificate", "tls_key") and isinstance(value, str) else value


def _absolute_index(folder: Path, served: Any) -> Any:
    if isinstance(served, Mapping) and isinstance(served.get("folder"), str):
        place = index_location(served["folder"])
        return {**served, "folder": folder / place if isinstance(place, Path) else place}
    return served


def _served(value: Any) -> Any:
    """FOLDER or NAME=FOLDER as a table; other types are left for validation."""
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str):
        return value
    name, equals, folder = value.partition("=")
    return {"folder": folder, "name": name} if equals and "/" not in name else {"folder": value}


def _where(name: str, origin: SettingOrigin, file: Path | None) -> str:
    if origin is SettingOrigin.ENVIRONMENT:
        return f"{PREFIX}{name.upper()} in the environment"
    return str(file) if origin is SettingOrigin.FILE else origin.value


def _reasons(error: ValidationError, origins: Mapping[str, SettingOrigin], file: Path | None) -> str:
    """The errors of each setting, with its source."""
    reasons = []
    for one in error.errors(include_url=False):
        name = str(one["loc"][0])
        inside = ".".join(map(str, one["loc"]))
        reason = one["msg"].removeprefix("Value error, ")
        got = "" if one["type"] == "value_error" else f", got {one['input']!r}"
        reasons.append(f"{inside} ({_where(name, origins.get(name, SettingOrigin.DEFAULT), file)}): {reason}{got}")
    return "; ".join(reasons)


def _inline(name: str, value: Any) -> str:
    """One line of TOML, with inline tables, so that a comment can follow."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        tables = (", ".join(_inline(inside, one) for inside, one in table.items() if one != {}) for table in value)
        return f"{name} = [{', '.join(f'{{ {table} }}' for table in tables)}]"
    if isinstance(value, dict):
        return f"{name} = {{ {', '.join(_inline(inside, one) for inside, one in value.items())} }}"
    return to_toml({name: value}).strip()
