"""A segment: documents that were added together, as immutable files in a folder of their own.

Documents stand in the order of their ids, so that within a segment the lower ordinal wins ties, and the same
documents give the same bytes whatever order they came in. ``manifest.json`` holds size and sha256 of each file;
the catalog holds the sha256 of the manifest, which so stands for all bytes of the segment.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from lexfuse.errors import DataError, LexFuseError, NotFoundError
from lexfuse.index.inverted import InvertedFile
from lexfuse.index.mapping import checksum
from lexfuse.index.strings import StringList

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Document ids, and one inverted file per channel.

    >>> import tempfile
    >>> segment = Segment(StringList.of(["a"]), {"bm25": InvertedFile.of([["loi"]])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sha256 = segment.save(Path(folder, "1"))
    ...     list(Segment.load(Path(folder, "1"), sha256).ids)
    ['a']
    """

    ids: StringList
    channels: dict[str, InvertedFile]

    def save(self, folder: Path) -> str:
        """Write all files, then the manifest, force them to disk, and give the sha256 of the manifest.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(Segment(StringList.of([]), {}).save(Path(folder, "1")))
        64
        """
        files: list[Path] = []
        folder.mkdir(parents=True)
        files += self.ids.save(folder / "ids")
        for name, inverted in self.channels.items():
            (folder / name).mkdir()
            files += inverted.save(folder / name)
        manifest = {
            "channels": list(self.channels),
            "files": {str(path.relative_to(folder)): {"bytes": path.stat().st_size, "sha256": checksum(path)} for path in files},
        }
        raw = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
        (folder / MANIFEST).write_bytes(raw)
        _sync([*files, folder / MANIFEST, *(folder / name for name in self.channels), folder, folder.parent])
        return hashlib.sha256(raw).hexdigest()

    @classmethod
    def load(cls, folder: Path, sha256: str) -> Segment:
        """Map a segment into memory; what is missing or cannot be is named, other bytes only `damages` sees.

        >>> Segment.load(Path("/nowhere"), "")
        Traceback (most recent call last):
        ...
        lexfuse.errors.NotFoundError: the index lacks its file '/nowhere/manifest.json'; restore it, or rebuild the index
        """
        channels = {name: InvertedFile.load(folder / name) for name in read_manifest(folder, sha256)["channels"]}
        segment = cls(StringList.load(folder / "ids"), channels)
        for name, inverted in channels.items():
            if len(inverted.lengths) != len(segment.ids):
                reason = f"holds {len(inverted.lengths):,} documents, not {len(segment.ids):,}; restore it, or rebuild the index"
                raise DataError(reason, path=folder / name)
        return segment


def read_manifest(folder: Path, sha256: str) -> dict[str, Any]:
    """What a segment's files must be; the manifest itself must have this sha256.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sha256 = Segment(StringList.of([]), {}).save(Path(folder, "1"))
    ...     list(read_manifest(Path(folder, "1"), sha256)["files"])
    ['ids.offsets.npy', 'ids.bytes.npy']
    """
    path = folder / MANIFEST
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"the index lacks its file {str(path)!r}; restore it, or rebuild the index") from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}; check its permissions", path=path) from None
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise DataError("the file is damaged (other bytes than were written); restore it, or rebuild the index", path=path)
    manifest: dict[str, Any] = orjson.loads(raw)
    return manifest


def damages(folder: Path, sha256: str) -> list[str]:
    """What is wrong with a segment's files, one line a file; empty when all is well.

    >>> damages(Path("/nowhere"), "")
    ["the index lacks its file '/nowhere/manifest.json'; restore it, or rebuild the index"]
    """
    try:
        manifest = read_manifest(folder, sha256)
    except LexFuseError as error:
        return [str(error)]
    return [
        f"{folder / name}: {wrong}" for name, expected in manifest["files"].items() if (wrong := _wrong(folder / name, expected))
    ]


def _wrong(path: Path, expected: dict[str, Any]) -> str:
    try:
        if (size := path.stat().st_size) != expected["bytes"]:
            return f"has {size:,} bytes, {expected['bytes']:,} were written"
        return "has other bytes than were written" if checksum(path) != expected["sha256"] else ""
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def _sync(paths: Iterable[Path]) -> None:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
