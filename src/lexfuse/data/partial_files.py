"""Files and folders that are written beside their place: claimed by a lock while they are written, and cleared if left.

Whoever writes one holds a lock on it. The system lets go of the lock when the process ends, however that happens: so a partial
file without a lock was left by a writer that was killed, and the next writer of the same target removes it.
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
    """A new file beside the target, for its owner alone: its descriptor, which holds the lock, and its name.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     handle, partial = claimed_file(Path(folder, "a.txt"))
    ...     os.close(handle)
    ...     partial.name.startswith(".a.txt.partial-")
    True
    """
    remove_left(path)

    def make() -> tuple[int, str]:
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}{_MARK}")

    return _claimed(make)


def claimed_folder(path: Path) -> tuple[int, Path]:
    """A new folder beside the target: a descriptor, which holds the lock, and its name.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     handle, partial = claimed_folder(Path(folder, "a"))
    ...     os.close(handle)
    ...     partial.is_dir()
    True
    """
    remove_left(path)

    def make() -> tuple[int, str]:
        name = tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}{_MARK}")
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY), name

    return _claimed(make)


def _claimed(make: Callable[[], tuple[int, str]]) -> tuple[int, Path]:
    import fcntl

    while True:
        handle, name = make()
        with suppress(OSError):  # a file system without locks: then nobody removes what is left there
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.lexists(name):
            return handle, Path(name)
        os.close(handle)  # taken for left between its making and its lock


def remove_left(path: Path) -> None:
    """Remove what killed writers of a target left; where one died amid an exchange, the old folder returns.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     handle, partial = claimed_file(Path(folder, "a.txt"))
    ...     os.close(handle)
    ...     remove_left(Path(folder, "a.txt"))
    ...     os.listdir(folder)
    []
    """
    import fcntl

    ours = re.compile(rf"\.{re.escape(path.name)}{re.escape(_MARK)}{_RANDOM}({_OLD})?")
    with os.scandir(path.parent) as entries:
        left = [Path(entry.path) for entry in entries if ours.fullmatch(entry.name)]
    for partial in left:
        with suppress(OSError):  # of another user, or just gone
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
    """Remove a file, or a folder with all that is in it; links are removed, not followed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "link").symlink_to("/")
    ...     remove(Path(folder, "link"))
    ...     os.listdir(folder)
    []
    """
    if stat.S_ISDIR(path.lstat().st_mode):
        shutil.rmtree(path)
    else:
        path.unlink()
