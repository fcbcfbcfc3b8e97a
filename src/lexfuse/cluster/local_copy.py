"""Local copies of the files of a generation: verified, resumed after an interruption, and shared by processes of a machine.

A shard is searched from a local copy that is mapped into memory. The copy has the name of its content, so that generations with
the same shard share it, and files that a former copy already has are linked instead of fetched.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from lexfuse.cluster.cluster_manifest import ClusterManifest, StoredFile, files_digest
from lexfuse.cluster.store import ClusterStore, shard_folder, statistics_folder
from lexfuse.cluster.stored_files import fetch_files, is_whole
from lexfuse.data.downloads import cache_folder
from lexfuse.data.files import make_folder, named_storage_errors, sync
from lexfuse.storage.folder_names import CHANNELS, SEGMENTS

_FETCHED = "fetch-"  # of a folder that is being fetched
_LOCK = ".lock"  # of who fetches a copy
_HELD = ".held"  # of those who use it; not the same file, or who waits to fetch it would wait for them
INDEX_FOLDERS = (SEGMENTS, CHANNELS)  # folders of an index whose files never change, so that copies may share them


class HeldCopy(NamedTuple):
    """A copy that is in use."""

    path: Path
    lock: IO[bytes]

    def release(self) -> None:
        """Allow others to remove it."""
        self.lock.close()


class LocalCopies:
    """Copies of the shards and statistics of a cluster in a cache folder.

    >>> LocalCopies(ClusterStore("memory://law"), folder).folder == folder
    True
    """

    def __init__(self, store: ClusterStore, folder: Path | None = None) -> None:
        """Use a cache folder, by default ``clusters`` in that of LexFuse."""
        self.store = store
        self.folder = (folder or cache_folder() / "clusters").absolute()

    def shard(self, manifest: ClusterManifest, number: int) -> Path:
        """The index folder of a shard, fetched if it is not there."""
        files = manifest.shards[number].files
        copy = self._copy(files, lambda file: shard_folder(file.generation, number))
        make_folder(copy / SEGMENTS)  # a shard without documents has no files in it, and object stores have no empty folders
        return copy

    def held_shard(self, manifest: ClusterManifest, number: int) -> HeldCopy:
        """The index folder of a shard, which `keep_only` of any process leaves alone until it is released."""
        while True:
            path = self.shard(manifest, number)
            lock = (self.folder / f"{path.name}{_HELD}").open("ab")
            with suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_SH)
            if path.is_dir():
                return HeldCopy(path, lock)
            lock.close()  # another process has removed it meanwhile

    def statistics(self, manifest: ClusterManifest) -> Path:
        """The folder with the statistics of all shards, fetched if it is not there."""
        return self._copy(manifest.statistics, lambda file: statistics_folder(file.generation))

    def keep_only(self, manifests: Collection[ClusterManifest], shards: Collection[int]) -> None:
        """Remove the copies that none of these generations needs for these shards, and nobody holds."""
        needed = {manifest.shards[number].digest for manifest in manifests for number in shards}
        needed |= {files_digest(manifest.statistics) for manifest in manifests}
        for path in self._copies():
            if path.name not in needed:
                with (self.folder / f"{path.name}{_HELD}").open("ab") as lock, suppress(OSError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # else somebody holds it
                    shutil.rmtree(path)

    def _copies(self) -> list[Path]:
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return [path for path in found if path.is_dir() and not path.name.startswith(_FETCHED)]

    def _copy(self, files: Mapping[str, StoredFile], origin: Callable[[StoredFile], str]) -> Path:
        digest = files_digest(files)
        target, partial = self.folder / digest, self.folder / f"{_FETCHED}{digest}"
        if target.is_dir():
            return target
        with named_storage_errors(target):
            make_folder(self.folder)
            with locked(self.folder / f"{digest}{_LOCK}"):
                if not target.is_dir():
                    make_folder(partial)
                    for name, file in files.items():
                        if PurePosixPath(name).parts[0] in INDEX_FOLDERS:
                            self._link(partial / name, name, file)
                    fetch_files(self.store, files, origin, partial)
                    partial.rename(target)
                    sync(self.folder)
        return target

    def _link(self, target: Path, name: str, file: StoredFile) -> None:
        """Link a file of a former copy that has the same name and bytes."""
        for copy in self._copies():
            if not target.exists() and is_whole(copy / name, file):
                make_folder(target.parent)
                with suppress(OSError):  # a file system without links
                    os.link(copy / name, target)


def copies_folder(uri: str, user: str, cache: Path | None = None) -> Path:
    """A cache folder for one user of a cluster on this machine, like a shard: it removes only its own copies."""
    digest = hashlib.sha256(uri.encode()).hexdigest()[:16]
    return (cache or cache_folder() / "clusters") / digest / user


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process of this machine holds the lock."""
    with path.open("wb") as handle:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
