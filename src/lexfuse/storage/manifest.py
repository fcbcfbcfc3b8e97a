"""The manifest of a folder: ``manifest.json`` has size and sha256 of each file, and the catalog the manifest's sha256.

So one short text in the catalog covers all bytes of a folder that never changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from lexfuse.data.files import checksum, sync
from lexfuse.errors import DataError, LexFuseError, NotFoundError

MANIFEST = "manifest.json"


def write_manifest(folder: Path, files: Sequence[Path], also: Mapping[str, Any] | None = None) -> str:
    """Describe the files written into a folder, flush everything to disk, and return the sha256 of the manifest."""
    described = {str(path.relative_to(folder)): {"bytes": path.stat().st_size, "sha256": checksum(path)} for path in files}
    raw = orjson.dumps({**(also or {}), "files": described}, option=orjson.OPT_INDENT_2)
    (folder / MANIFEST).write_bytes(raw)
    folders = sorted({parent for path in files for parent in path.parents if parent.is_relative_to(folder)} | {folder})
    sync(*files, folder / MANIFEST, *folders, folder.parent)
    return hashlib.sha256(raw).hexdigest()


def read_manifest(folder: Path, sha256: str) -> dict[str, Any]:
    """The manifest of a folder; it must have this sha256.

    >>> read_manifest(folder, write_manifest(folder, []))
    {'files': {}}
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
    try:
        manifest: dict[str, Any] = orjson.loads(raw)
        names = [*manifest["files"], *manifest.get("channels", ())]
        wrong = next((name for name in names if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts), None)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"the file is no manifest ({error!r}); restore it, or rebuild the index", path=path) from None
    if wrong is not None:
        raise DataError(f"the manifest names {wrong!r}, which is outside its folder; restore it, or rebuild the index", path=path)
    return manifest


def damages(folder: Path, sha256: str) -> list[str]:
    """What is wrong with a folder's files, one line per file; empty if nothing is.

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


def check_files(folders: Iterable[tuple[Path, str]]) -> None:
    """Refuse folders, each with the sha256 of its manifest, whose files differ from what was written.

    Merged files get new checksums: damage that enters them would never be found.
    """
    for folder, sha256 in folders:
        if wrong := damages(folder, sha256):
            raise DataError(f"{wrong[0]}; restore it, or rebuild the index; nothing was changed")


def _wrong(path: Path, expected: dict[str, Any]) -> str:
    try:
        if (size := path.stat().st_size) != expected["bytes"]:
            return f"has {size:,} bytes, {expected['bytes']:,} were written"
        return "has other bytes than were written" if checksum(path) != expected["sha256"] else ""
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
