"""The manifest of a generation: every file of every shard with its size, its sha256 and the generation that wrote it.

A generation never changes. One that changes a few shards names the files of older generations for the rest, so publishing it
writes only what is new.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar

import orjson
from pydantic import AfterValidator, BeforeValidator

from lexfuse.data.validation import Amount, Model, Name, Tables, expect, refusing
from lexfuse.errors import ConfigError, DataError

FORMAT = 1
_GENERATION = re.compile(r"[0-9]{6,12}-[0-9a-f]{12}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def checked_generation(value: Any) -> str:
    """The name of a generation; it is the name of a folder too.

    >>> checked_generation("../law")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the name of a generation like 000001-0f3a5c7e9b2d was expected, got '../law'
    """
    if not isinstance(value, str) or not _GENERATION.fullmatch(value):
        raise ConfigError(f"the name of a generation like 000001-0f3a5c7e9b2d was expected, got {value!r}")
    return value


def _sha256(value: Any) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        expect("a sha256, 64 hexadecimal digits")
    return str(value)


def _inside(files: Mapping[str, StoredFile]) -> Mapping[str, StoredFile]:
    """Refuse names that lead out of their folder."""
    for name in files:
        path = PurePosixPath(name)
        if not name or path.is_absolute() or str(path) != name or ".." in path.parts or "\\" in name:
            expect(f"names of files below their folder, not {name!r}")
    return files


Generation = Annotated[str, BeforeValidator(refusing(checked_generation))]
Sha256 = Annotated[str, BeforeValidator(_sha256)]


class StoredFile(Model):
    """One file in the store."""

    bytes: Amount
    sha256: Sha256
    generation: Generation  # that wrote it


Files = Annotated[dict[str, StoredFile], AfterValidator(_inside)]  # by their names below a folder


class StoredShard(Model):
    """An ordinary index folder, and the statistics of its documents alone, from which those of all shards are summed."""

    documents: Amount
    files: Files
    statistics: Files

    @property
    def digest(self) -> str:
        """The same for two shards exactly when their index folders have the same bytes."""
        return files_digest(self.files)

    @property
    def size(self) -> int:
        """Bytes of the index folder."""
        return sum(file.bytes for file in self.files.values())


class StoredChannel(Model):
    """A channel that all shards have, with the fingerprints of its models."""

    name: Name
    kind: Name
    model: str
    fingerprint: str
    query_model: str = ""
    query_fingerprint: str = ""


class ClusterManifest(Model):
    """What a generation of a cluster consists of.

    >>> shard = StoredShard(documents=0, files={}, statistics={})
    >>> manifest = ClusterManifest(generation="000001-0f3a5c7e9b2d", settings={}, shards=(shard,), statistics={})
    >>> ClusterManifest.parse(manifest.raw(), "cluster.json") == manifest
    True
    """

    format: int = FORMAT
    generation: Generation
    parent: str = ""  # the generation that it changed; empty for a new cluster
    settings: dict[str, Any]  # of the index, see `IndexSettings`
    channels: Annotated[tuple[StoredChannel, ...], Tables] = ()
    shards: Annotated[tuple[StoredShard, ...], Tables]
    statistics: Files  # of all shards

    PATH: ClassVar[str] = "cluster.json"

    @property
    def documents(self) -> int:
        """How many documents the cluster has."""
        return sum(shard.documents for shard in self.shards)

    def raw(self) -> bytes:
        """The manifest as it is stored."""
        return orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def parse(cls, raw: bytes, path: str) -> ClusterManifest:
        """A stored manifest; a `DataError` names what is wrong with it."""
        try:
            values = orjson.loads(raw)
            found = values.get("format") if isinstance(values, dict) else None
            if isinstance(found, int) and found > FORMAT:
                raise DataError(f"the cluster has format {found}, this LexFuse reads {FORMAT}; use a newer LexFuse", path=path)
            return cls(**values)
        except (ValueError, TypeError, ConfigError) as error:
            raise DataError(f"is no manifest of a cluster ({error}); publish the cluster again", path=path) from None


def files_digest(files: Mapping[str, StoredFile]) -> str:
    """The same for two sets of files exactly when names and bytes are the same, whichever generation wrote them.

    >>> files_digest({})[:12]
    'e3b0c44298fc'
    """
    listed = "".join(f"{file.sha256} {name}\n" for name, file in sorted(files.items()))
    return hashlib.sha256(listed.encode()).hexdigest()


def generation_number(generation: str) -> int:
    """The number in the name of a generation; 0 where there is none.

    >>> generation_number("000012-0f3a5c7e9b2d"), generation_number("")
    (12, 0)
    """
    return int(generation.partition("-")[0] or 0)
