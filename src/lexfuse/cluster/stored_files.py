"""Files between a folder and the store: copied with their sha256, and verified when they are fetched."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from lexfuse.cluster.cluster_manifest import StoredFile
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.files import checksum, make_folder
from lexfuse.errors import DataError, StorageError
from lexfuse.storage.folder_names import FILE

_BLOCK = 1 << 20
_PART = ".part"  # of a file that is being fetched
NO_FILES: Mapping[str, StoredFile] = {}


def upload_files(
    store: ClusterStore, folder: Path, target: str, generation: str, before: Mapping[str, StoredFile] = NO_FILES
) -> dict[str, StoredFile]:
    """Copy the files of a folder to the store for a generation, without those that the former generation has.

    >>> _ = (folder / "a.txt").write_bytes(b"law")
    >>> files = upload_files(ClusterStore("memory://uploads"), folder, "notes", "000001-0f3a5c7e9b2d")
    >>> files["a.txt"].bytes
    3
    """
    files: dict[str, StoredFile] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name.startswith(f"{FILE}-"):
            if path.stat().st_size and not name.endswith("-shm"):
                raise StorageError(f"{str(path)!r} has changes that are not in the catalog; another process has it open")
            continue
        sha256, known = checksum(path), before.get(name)
        if known is not None and known.sha256 == sha256:
            files[name] = known
            continue
        store.upload(path, f"{target}/{name}")
        files[name] = StoredFile(bytes=path.stat().st_size, sha256=sha256, generation=generation)
    return files


def fetch_files(store: ClusterStore, files: Mapping[str, StoredFile], origin: Callable[[StoredFile], str], folder: Path) -> None:
    """Fetch files into a folder and verify them; files that are there and whole are kept, and a half one is resumed.

    `DataError` if the store has other bytes than were published.
    """
    for name, file in files.items():
        target = folder / name
        if is_whole(target, file):
            continue
        make_folder(target.parent)
        _fetch(store, f"{origin(file)}/{name}", file, target)


def _fetch(store: ClusterStore, name: str, file: StoredFile, target: Path) -> None:
    part = target.with_name(target.name + _PART)
    with part.open("ab") as out:
        begun = out.tell()
        if begun > file.bytes:
            begun = 0
            out.truncate(0)
        with store.reading(name) as source:
            if begun:
                source.seek(begun)
            while block := source.read(_BLOCK):
                out.write(block)
        out.flush()
        os.fsync(out.fileno())
    size, found = part.stat().st_size, checksum(part)
    if size != file.bytes or found != file.sha256:
        part.unlink()
        if begun:  # the half may have been of other bytes
            _fetch(store, name, file, target)
            return
        raise DataError(
            f"has {size:,} bytes with sha256 {found}, {file.bytes:,} with {file.sha256} were published; restore it, or publish "
            "the cluster again",
            path=f"{store.uri}/{name}",
        )
    part.replace(target)


def is_whole(path: Path, file: StoredFile) -> bool:
    """Whether a file is there with the bytes that were stored."""
    try:
        return path.stat().st_size == file.bytes and checksum(path) == file.sha256
    except OSError:
        return False
