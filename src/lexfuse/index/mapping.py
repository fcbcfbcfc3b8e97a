"""Arrays on disk: written with their checksum in mind, mapped into memory for reading, never unpickled."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.errors import DataError, NotFoundError


def save_array(path: Path, array: NDArray[Any]) -> Path:
    """Write an array and give back where.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_array(Path(folder, "a.npy"), np.arange(2)).name
    'a.npy'
    """
    np.save(path, array, allow_pickle=False)
    return path


def mapped(path: Path) -> NDArray[Any]:
    """A saved array, mapped into memory; a missing or broken file is named.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mapped(save_array(Path(folder, "a.npy"), np.arange(2))).tolist()
    [0, 1]
    """
    try:
        with path.open("rb") as stream:
            np.lib.format.read_magic(stream)
            shape, _, _ = np.lib.format.read_array_header_1_0(stream)
        # An empty array has no bytes to map.
        array: NDArray[Any] = np.load(path, mmap_mode="r" if all(shape) else None, allow_pickle=False)
        return array
    except FileNotFoundError:
        raise NotFoundError(f"the index lacks its file {str(path)!r}; restore it or build the index again") from None
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"the file is damaged ({error}); restore it or build the index again", path=path) from None


def checksum(path: Path) -> str:
    """The sha256 of a file.

    >>> checksum(Path("/dev/null"))[:8]
    'e3b0c442'
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
