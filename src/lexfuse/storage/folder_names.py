"""The names in an index folder; nothing else in it is followed, read or removed.

A folder may come from someone else. A link in it would lead out of it: SQLite would write its log, and cleaning up would delete
folders, wherever the link points. So links and devices are refused before anything is opened. The path of the folder itself may
be a link or contain links: the user has chosen it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from lexfuse.data.files import named_storage_errors
from lexfuse.errors import DataError, UnknownIndexError

FILE = "catalog.sqlite"  # the catalog
SEGMENTS = "segments"
CHANNELS = "channels"
CHANNEL_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")

_LOGS = ("-wal", "-shm", "-journal")  # SQLite's, next to the catalog
_NUMBER = re.compile(r"[0-9]{6,18}")  # of a segment or part


def check_plain(folder: Path) -> None:
    """Refuse a folder that contains anything except files and folders: a `DataError` names the first link or device.

    >>> (folder / "segments").symlink_to("/")
    >>> check_plain(folder)
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: ...segments: is a link; an index has only files and folders: replace it by its target, ...
    """
    waiting = [folder]
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.is_symlink():
                raise _refused(Path(entry.path), "a link")
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False) and os.path.lexists(entry.path):
                raise _refused(Path(entry.path), "a device, pipe or socket")


def foreign_name(folder: Path) -> str | None:
    """A name in the folder that no index creates, or ``None``.

    >>> for one in ("segments/000001", "segments/letters"):
    ...     (folder / one).mkdir(parents=True)
    >>> foreign_name(folder)
    'segments/letters'
    """
    files = {FILE, *(FILE + log for log in _LOGS)}
    for entry in _entries(folder):
        if entry.name not in (files if entry.is_file(follow_symlinks=False) else (SEGMENTS, CHANNELS)):
            return entry.name
    for entry in _entries(folder / SEGMENTS):
        if not _is_numbered(entry):
            return f"{SEGMENTS}/{entry.name}"
    for channel in _entries(folder / CHANNELS):
        if not _is_channel(channel):
            return f"{CHANNELS}/{channel.name}"
        for entry in _entries(Path(channel.path)):
            if not _is_numbered(entry):
                return f"{CHANNELS}/{channel.name}/{entry.name}"
    return None


def segment_folder(number: int) -> str:
    """The folder of a segment."""
    return f"{SEGMENTS}/{number:06d}"


def part_folder(channel: str, number: int) -> str:
    """The folder of a channel's part."""
    return f"{CHANNELS}/{channel}/{number:06d}"


def remove_unnamed_segments(folder: Path, named: Collection[str]) -> None:
    """Remove segment folders that no state names; other names stay.

    >>> for number in ("000001", "000002", "letters"):
    ...     (folder / "segments" / number).mkdir(parents=True)
    >>> remove_unnamed_segments(folder, {"segments/000002"})
    >>> sorted(path.name for path in (folder / "segments").iterdir())
    ['000002', 'letters']
    """
    with named_storage_errors(folder / SEGMENTS):
        _remove_unnamed(folder / SEGMENTS, SEGMENTS, named)


def remove_unnamed_parts(folder: Path, named: Collection[str]) -> None:
    """Remove part folders that no state names, and empty channels; other names stay.

    >>> for number in ("dense/000001", "dense/letters", "late/000002"):
    ...     (folder / "channels" / number).mkdir(parents=True)
    >>> remove_unnamed_parts(folder, {})
    >>> sorted(path.name for path in (folder / "channels").rglob("*"))
    ['dense', 'letters']
    """
    with named_storage_errors(folder / CHANNELS):
        for channel in _entries(folder / CHANNELS):
            if _is_channel(channel):
                _remove_unnamed(Path(channel.path), f"{CHANNELS}/{channel.name}", named)
                if not any(_entries(Path(channel.path))):
                    os.rmdir(channel.path)


def _remove_unnamed(folder: Path, inside: str, named: Collection[str]) -> None:
    for entry in _entries(folder):
        if _is_numbered(entry) and f"{inside}/{entry.name}" not in named:
            shutil.rmtree(entry.path, ignore_errors=True)


def _is_numbered(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and _NUMBER.fullmatch(entry.name) is not None


def _is_channel(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and CHANNEL_NAME.fullmatch(entry.name) is not None


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The content of a folder, by name; empty if it does not exist."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise UnknownIndexError(f"no index in {str(folder)!r} (it is no folder)") from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}; check its permissions", path=folder) from None
    yield from found


def _refused(path: Path, what: str) -> DataError:
    reason = f"is {what}; an index has only files and folders: replace it by its target, or copy the index with cp -rL"
    return DataError(reason, path=path)


def file_sizes(folder: Path) -> Iterator[int]:
    """The bytes of every file; a log or a segment that a writer removes in the meantime is not counted."""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            found = path.lstat()
            if stat.S_ISREG(found.st_mode):
                yield found.st_size
