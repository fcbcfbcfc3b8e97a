"""A segment: documents that were added together, as immutable files in a folder of their own.

Documents stand in the order of their ids, so that within a segment the lower ordinal wins ties, and the same
documents give the same bytes whatever order they came in. ``manifest.json`` holds size and sha256 of each file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

from lexfuse.errors import DataError
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
    ...     segment.save(Path(folder, "1"))
    ...     list(Segment.load(Path(folder, "1")).ids)
    ['a']
    """

    ids: StringList
    channels: dict[str, InvertedFile]

    def save(self, folder: Path) -> None:
        """Write all files, then the manifest, and force them to disk."""
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
        (folder / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        _sync([*files, folder / MANIFEST, *(folder / name for name in self.channels), folder, folder.parent])

    @classmethod
    def load(cls, folder: Path) -> Segment:
        """Map a segment into memory."""
        manifest = read_manifest(folder)
        channels = {name: InvertedFile.load(folder / name) for name in manifest["channels"]}
        return cls(StringList.load(folder / "ids"), channels)


def read_manifest(folder: Path) -> dict[str, dict[str, dict[str, object]]]:
    """What a segment's files must be; a missing or broken manifest is a `DataError`."""
    try:
        manifest: dict[str, dict[str, dict[str, object]]] = orjson.loads((folder / MANIFEST).read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise DataError(f"the segment's manifest cannot be read ({error}); restore it", path=folder / MANIFEST) from None
    return manifest


def damages(folder: Path) -> list[str]:
    """What is wrong with a segment's files, one line a file; empty when all is well."""
    try:
        manifest = read_manifest(folder)
    except DataError as error:
        return [str(error)]
    found = []
    for name, expected in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            found.append(f"{path} is missing")
        elif path.stat().st_size != expected["bytes"]:
            found.append(f"{path} has {path.stat().st_size:,} bytes, {expected['bytes']:,} were written")
        elif checksum(path) != expected["sha256"]:
            found.append(f"{path} has other bytes than were written")
    return found


def _sync(paths: Iterable[Path]) -> None:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
