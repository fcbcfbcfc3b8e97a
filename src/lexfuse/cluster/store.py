"""Where a cluster is kept: a folder or an object store, by its URI (file://, s3://, gs://, and what else fsspec reads).

    URI/current.json                             the published generation
    URI/generations/G/cluster.json               its manifest
    URI/generations/G/statistics/                statistics of all shards
    URI/generations/G/shards/0/                  an ordinary index folder
    URI/generations/G/shard-statistics/0/        statistics of its documents
    URI/builds/B/                                what an unfinished build has done

A generation is published by one atomic write of ``current.json``, which has the sha256 of the manifest, which has those of all
files. So a reader sees a whole generation or the one before, and notices every damaged byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import orjson

from lexfuse.cluster.cluster_manifest import ClusterManifest, checked_generation
from lexfuse.data.files import written_file
from lexfuse.dependencies import Extra
from lexfuse.errors import (
    ConfigError,
    ConflictError,
    DataError,
    FetchError,
    LexFuseError,
    MissingDependencyError,
    NotFoundError,
    StorageError,
)

CURRENT = "current.json"
GENERATIONS = "generations"
BUILDS = "builds"
_FILE, _MEMORY = "file", "memory"


class Published(NamedTuple):
    """A generation, and the sha256 of its manifest."""

    generation: str = ""
    sha256: str = ""


class ClusterStore:
    """The files of a cluster at a URI; names are relative to it.

    >>> store = ClusterStore(str(folder / "law.cluster"))
    >>> store.write_bytes("notes/a.txt", b"law")
    >>> store.read_bytes("notes/a.txt"), store.current()
    (b'law', '')
    """

    def __init__(self, uri: str) -> None:
        """Find out how the URI is read; nothing is read yet."""
        fsspec = _fsspec(uri)
        if not uri:
            raise ConfigError("a cluster needs a URI: a folder, or an address like s3://bucket/law")
        self.uri = uri.rstrip("/") or uri
        try:
            self._files, self._root = cast("tuple[Any, str]", fsspec.core.url_to_fs(self.uri))
        except ImportError as error:
            scheme = self.uri.partition("://")[0]
            raise MissingDependencyError(
                f"{self.uri!r} needs what is not installed ({error}); install the package of fsspec for {scheme}://"
            ) from None
        except ValueError as error:
            raise ConfigError(f"{self.uri!r} is no URI of a cluster ({error}); give a folder, s3://… or gs://…") from None
        protocols = self._files.protocol
        self._protocols = (protocols,) if isinstance(protocols, str) else tuple(protocols)

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine, or one that is mounted."""
        return _FILE in self._protocols

    @property
    def absolute_uri(self) -> str:
        """The URI as other processes with another current folder understand it."""
        return self._root if self.is_local else self.uri

    @property
    def is_shared(self) -> bool:
        """Whether other processes can see it."""
        return _MEMORY not in self._protocols

    # Files

    def exists(self, name: str) -> bool:
        """Whether there is a file or folder of a name."""
        with self._read_errors(name):
            return bool(self._files.exists(self._path(name)))

    def names(self, name: str) -> list[str]:
        """The names in a folder, sorted; empty if there is none."""
        with self._read_errors(name):
            try:
                found = self._files.ls(self._path(name), detail=False, refresh=True)
            except FileNotFoundError:
                return []
            return sorted({str(path).rstrip("/").rpartition("/")[2] for path in found})

    def read_bytes(self, name: str) -> bytes:
        """The content of a small file; `NotFoundError` if there is none."""
        with self._read_errors(name):
            return bytes(self._files.cat_file(self._path(name)))

    def read_json(self, name: str) -> Any:
        """The value in a JSON file."""
        raw = self.read_bytes(name)
        try:
            return orjson.loads(raw)
        except ValueError as error:
            raise DataError(f"is not JSON ({error}); restore it, or publish the cluster again", path=self._shown(name)) from None

    @contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        """A file, opened for reading from any position."""
        with self._read_errors(name), self._files.open(self._path(name), "rb") as stream:
            yield stream

    def write_bytes(self, name: str, raw: bytes) -> None:
        """Write a small file, complete or not at all; an older one is replaced in one step."""
        with self._write_errors(name):
            if self.is_local:
                with written_file(self._path(name), verbatim=True) as out:
                    out.write(raw)
            else:
                self._files.pipe_file(self._path(name), raw)

    def write_json(self, name: str, value: Any) -> None:
        """Write a value as JSON, complete or not at all."""
        self.write_bytes(name, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def upload(self, path: Path, name: str) -> None:
        """Copy a local file into the store, complete or not at all."""
        with self._write_errors(name):
            if self.is_local:
                with path.open("rb") as source, written_file(self._path(name), verbatim=True) as out:
                    while block := source.read(1 << 20):
                        out.write(block)
            else:
                self._files.put_file(str(path), self._path(name))

    def remove(self, name: str) -> None:
        """Remove a file or a whole folder, if there is one."""
        with self._write_errors(name):
            if self._files.exists(self._path(name)):
                self._files.rm(self._path(name), recursive=True)

    # Generations

    def current(self) -> str:
        """The published generation, or empty if there is none."""
        return self.published().generation

    def manifest(self, published: Published | None = None) -> ClusterManifest:
        """The manifest of a generation, by default the published one; `NotFoundError` if nothing was published."""
        generation, sha256 = published or self.published()
        if not generation:
            raise NotFoundError(f"there is no cluster at {self.uri!r}; make one with lexfuse cluster index CORPUS {self.uri}")
        name = manifest_name(generation)
        raw = self.read_bytes(name)
        if hashlib.sha256(raw).hexdigest() != sha256:
            raise DataError(
                "has other bytes than were published; restore it, or publish the cluster again", path=self._shown(name)
            )
        return ClusterManifest.parse(raw, self._shown(name))

    def publish(self, manifest: ClusterManifest) -> None:
        """Make a generation the current one, in one step; its files must be there.

        `ConflictError` if another generation than its parent was published meanwhile.
        """
        if (current := self.current()) not in (manifest.parent, manifest.generation):
            raise ConflictError(
                f"{self.uri!r} has the generation {current or 'none'}, {manifest.parent or 'none'} was expected: another process "
                "has published; nothing was changed, run the command again"
            )
        raw = manifest.raw()
        self.write_bytes(manifest_name(manifest.generation), raw)
        self.write_json(CURRENT, {"generation": manifest.generation, "sha256": hashlib.sha256(raw).hexdigest()})

    def published(self) -> Published:
        """The published generation; empty if there is none."""
        try:
            values = self.read_json(CURRENT)
        except NotFoundError:
            return Published()
        try:
            return Published(checked_generation(values["generation"]), str(values["sha256"]))
        except (TypeError, KeyError, ConfigError):
            raise DataError("names no generation; restore it, or publish the cluster again", path=self._shown(CURRENT)) from None

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _shown(self, name: str) -> str:
        return f"{self.uri}/{name}"

    @contextmanager
    def _read_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except LexFuseError:
            raise
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(f"there is no {self._shown(name)!r}; check the URI") from None
        except Exception as error:  # many classes from many layers
            raise FetchError(
                f"{self._shown(name)!r} cannot be read: {_reason(error)}; check the URI, the network and the credentials"
            ) from error

    @contextmanager
    def _write_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except LexFuseError:
            raise
        except Exception as error:  # many classes from many layers
            raise StorageError(
                f"cannot write {self._shown(name)!r}: {_reason(error)}; check the URI, the space and the credentials"
            ) from error


def _fsspec(uri: str) -> Any:
    """The package that reads every kind of store."""
    try:
        import fsspec
    except ImportError:
        Extra.CLUSTER.require(f"the cluster {uri!r}")
        raise
    return fsspec


def manifest_name(generation: str) -> str:
    """Where the manifest of a generation is."""
    return f"{GENERATIONS}/{generation}/{ClusterManifest.PATH}"


def shard_folder(generation: str, shard: int) -> str:
    """Where a generation has the files of a shard that it wrote."""
    return f"{GENERATIONS}/{generation}/shards/{shard}"


def shard_statistics_folder(generation: str, shard: int) -> str:
    """Where a generation has the statistics of a shard that it wrote."""
    return f"{GENERATIONS}/{generation}/shard-statistics/{shard}"


def statistics_folder(generation: str) -> str:
    """Where a generation has the statistics of all shards."""
    return f"{GENERATIONS}/{generation}/statistics"


def _reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n", 1)[0]
