"""API keys: random tokens, of which a file keeps salted hashes only.

A key is 32 random bytes, so it cannot be guessed from its hash, however fast the hash is. Slow hashes such as scrypt protect
passwords that people choose, and would cost tens of milliseconds per request. The hash is HMAC-SHA-256 with a salt per key, so
that equal tokens in two files do not look equal.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import logging
import os
import secrets
import stat
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from lexfuse.data.files import decode, make_folder, named_storage_errors, read_bytes, written_file
from lexfuse.data.formats.toml_text import to_toml
from lexfuse.errors import ConfigError, DataError, LexFuseError, NotFoundError

PREFIX = "lf_"
BYTES = 32
LONGEST_TOKEN = 256  # longer tokens are not hashed

_log = logging.getLogger("lexfuse.service")


class KeyScope(StrEnum):
    """What a key allows; write includes read."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as the file stores it: name, scopes, time of creation and salted hash.

    >>> key, token = new_key("library", KeyScope.READ)
    >>> key.matches(token), key.matches(token + "x"), token.startswith("lf_")
    (True, False, True)
    """

    name: str
    scopes: tuple[KeyScope, ...]
    created: str
    salt: str
    hash: str

    def matches(self, token: str) -> bool:
        """Whether a token is this key; the comparison takes constant time."""
        return hmac.compare_digest(_hashed(self.salt, token), self.hash)

    def allows(self, scope: KeyScope) -> bool:
        """Whether the key has a scope."""
        return scope in self.scopes or (scope is KeyScope.READ and KeyScope.WRITE in self.scopes)


def new_key(name: str, *scopes: KeyScope) -> tuple[ApiKey, str]:
    """A new key, and its token, which is shown once and stored nowhere."""
    if not name or len(name) > 64 or not name.isprintable():
        raise ConfigError(f"the name of a key has 1 to 64 printable characters, got {name!r}")
    token = PREFIX + secrets.token_urlsafe(BYTES)
    salt = secrets.token_hex(16)
    created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return ApiKey(name, tuple(dict.fromkeys(scopes)), created, salt, _hashed(salt, token)), token


def read_keys(path: str | Path) -> tuple[ApiKey, ...]:
    """The keys of a file; a file that others may write to is refused, because they could add keys.

    >>> read_keys("nowhere.toml")
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no file or folder 'nowhere.toml'; check the path
    """
    content = decode(read_bytes(path), path=path)
    mode = Path(path).stat().st_mode
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigError(f"{path}: others may write to the keys (mode {stat.S_IMODE(mode):o}); chmod 600 it")
    try:
        tables = tomllib.loads(content).get("key", [])
        keys = tuple(_key(table) for table in tables)
    except (tomllib.TOMLDecodeError, RecursionError, KeyError, TypeError, ValueError) as error:
        reason = f"not a file of keys ({type(error).__name__}: {error}); make it by lexfuse keys add"
        raise DataError(reason, path=path) from None
    if len({key.name for key in keys}) < len(keys):
        raise DataError("two keys have one name; revoke one", path=path)
    return keys


def add_key(path: str | Path, name: str, *scopes: KeyScope) -> str:
    """Add a new key to a file, which is created with mode 600 if necessary, and return its token.

    >>> token = add_key(folder / "keys.toml", "library", KeyScope.READ)
    >>> [key.name for key in read_keys(folder / "keys.toml")]
    ['library']
    """
    key, token = new_key(name, *scopes)
    with _changed(Path(path)) as keys:
        if any(one.name == name for one in keys):
            raise ConfigError(f"there is a key {name!r} already; revoke it first, or choose another name")
        keys.append(key)
    return token


def revoke_key(path: str | Path, name: str) -> None:
    """Remove a key from a file; a running service refuses it from the next request on.

    >>> _ = add_key(folder / "keys.toml", "library", KeyScope.READ)
    >>> revoke_key(folder / "keys.toml", "library")
    >>> read_keys(folder / "keys.toml")
    ()
    """
    with _changed(Path(path)) as keys:
        left = [one for one in keys if one.name != name]
        if len(left) == len(keys):
            raise NotFoundError(f"{path}: no key {name!r}; there are {', '.join(one.name for one in keys) or 'none'}")
        keys[:] = left


class KeyRing:
    """The keys of a file while the service runs; the file is read again when it changes.

    While the file is unreadable no key is accepted, so that a revoked key does not survive a mistake in the file.

    >>> KeyRing(None).find("lf_guess") is None
    True
    """

    def __init__(self, path: Path | None) -> None:
        """Read the keys; errors in the file are raised at once."""
        self.path = path
        self._seen = self._state()
        self._keys = read_keys(path) if path else ()
        self._lock = threading.Lock()

    def find(self, token: str) -> ApiKey | None:
        """The key of a token, or None; every key is compared, so that the time reveals nothing."""
        if len(token) > LONGEST_TOKEN:
            return None
        found = None
        for key in self._current():
            if key.matches(token):
                found = key
        return found

    def _current(self) -> tuple[ApiKey, ...]:
        if self.path is None:
            return ()
        with self._lock:
            state = self._state()
            if state != self._seen:
                self._seen = state
                try:
                    self._keys = read_keys(self.path)
                except LexFuseError as error:
                    self._keys = ()
                    _log.error("the file of keys cannot be read, no key is known until it can: %s", error)
            return self._keys

    def _state(self) -> tuple[int, ...] | None:
        try:
            found = self.path.stat() if self.path else None
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode) if found else None


def _hashed(salt: str, token: str) -> str:
    return hmac.new(salt.encode(), token.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def _key(table: dict[str, Any]) -> ApiKey:
    texts = {name: table[name] for name in ("name", "created", "salt", "hash")}
    if wrong := next((name for name, value in texts.items() if not isinstance(value, str)), None):
        raise ValueError(f"{wrong} must be a text")
    return ApiKey(scopes=tuple(KeyScope(scope) for scope in table["scopes"]), **texts)


@contextmanager
def _changed(path: Path) -> Iterator[list[ApiKey]]:
    """The keys of a file, to change in place; the file is then replaced atomically, with mode 600."""
    import fcntl

    path = path.resolve()  # replace the target of a link, not the link
    with named_storage_errors(path):
        make_folder(path.parent)
        folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # two processes that add at once must not lose a key
        keys = list(read_keys(path)) if path.exists() else []
        yield keys
        _write(path, keys)
    finally:
        os.close(folder)


def _write(path: Path, keys: list[ApiKey]) -> None:
    tables = [
        {"name": key.name, "scopes": [scope.value for scope in key.scopes], "created": key.created, "salt": key.salt,
         "hash": key.hash}
        for key in keys
    ]  # fmt: skip
    with written_file(path, private=True) as out:
        out.write((to_toml({"key": tables}) if tables else "key = []\n").encode())
