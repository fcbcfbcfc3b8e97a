"""Partial files and folders next to their target: locked while they are written, removed if abandoned.

A writer holds a lock on its partial file. The system releases the lock when the process ends, however it ends: a partial file
without a lock was left by a killed writer, and the next writer of the same target removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_MARK = ".partial-"
_OLD = "-old"
_RANDOM = "[a-z0-9_]{8}"  # as tempfile makes names


def claimed_file(path: Path) -> tuple[int, Path]:
    """Create a locked private file next to the target; returns the descriptor that holds the lock, and the path."""
    remove_left(path)

    def make() -> tuple[int, str]:
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}{_MARK}")

    return _claimed(make)


def claimed_folder(path: Path) -> tuple[int, Path]:
    """Create a locked folder next to the target; returns the descriptor that holds the lock, and the path."""
    remove_left(path)

    def make() -> tuple[int, str]:
        name = tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}{_MARK}")
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY), name

    return _claimed(make)


def _claimed(make: Callable[[], tuple[int, str]]) -> tuple[int, Path]:
    import fcntl

    while True:
        handle, name = make()
        with suppress(OSError):  # a file system without locks: abandoned files stay there
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.lexists(name):
            return handle, Path(name)
        os.close(handle)  # another process took it for abandoned before it was locked


def remove_left(path: Path) -> None:
    """Remove what killed writers of a target left behind; an old folder returns if one died during the swap.

    >>> handle, partial = claimed_file(folder / "a.txt")
    >>> os.close(handle)
    >>> remove_left(folder / "a.txt")
    >>> os.listdir(folder)
    []
    """
    import fcntl

    ours = re.compile(rf"\.{re.escape(path.name)}{re.escape(_MARK)}{_RANDOM}({_OLD})?")
    with os.scandir(path.parent) as entries:
        left = [Path(entry.path) for entry in entries if ours.fullmatch(entry.name)]
    for partial in left:
        with suppress(OSError):  # owned by another user, or already gone
            handle = os.open(partial, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if partial.name.endswith(_OLD) and not os.path.lexists(path):
                    partial.rename(path)
                else:
                    remove(partial)
            finally:
                os.close(handle)


def remove(path: Path) -> None:
    """Remove a file or a whole folder; a link is removed, not followed.

    >>> (folder / "link").symlink_to("/")
    >>> remove(folder / "link")
    >>> os.listdir(folder)
    []
    """
    if stat.S_ISDIR(path.lstat().st_mode):
        shutil.rmtree(path)
    else:
        path.unlink()
