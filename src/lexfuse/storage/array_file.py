"""Arrays on disk: written at once, memory-mapped for reading, never unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lexfuse.errors import DataError, NotFoundError

# Smaller files are read: a map needs a file descriptor, and an index of many small segments would need thousands.
MAPPED_FROM = 1 << 20
_HEADER = 128  # bytes


def save_array(path: Path, array: NDArray[Any]) -> Path:
    """Write an array and return its path."""
    array = np.ascontiguousarray(array)
    with path.open("wb") as stream:
        stream.write(_header(array.dtype, len(array)))
        stream.write(array.view(np.uint8).data)  # np.save hides the reason when the disk is full
    return path


def _header(dtype: np.dtype[Any], count: int) -> bytes:
    """The header of an .npy file, version 1.0, with a fixed length."""
    shown = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({count},), }}"
    return b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little") + shown.ljust(_HEADER - 11).encode() + b"\n"


def map_array(path: Path, dtype: DTypeLike) -> NDArray[Any]:
    """A saved array of this type, mapped into memory; a missing or damaged file is named.

    >>> map_array(save_array(folder / "a.npy", np.arange(2)), np.int64).tolist()
    [0, 1]
    """
    try:
        with path.open("rb") as stream:
            found, size = np.dtype(dtype), path.stat().st_size
            count = max(0, size - _HEADER) // found.itemsize
            # Only the exact output of `save_array` is accepted, so there is nothing to parse.
            if stream.read(_HEADER) != _header(found, count) or size != _HEADER + count * found.itemsize:
                raise ValueError(f"its header is not that of {count:,} numbers of type {found} in {size:,} bytes")
            if size >= MAPPED_FROM:
                return np.memmap(path, found, "r", _HEADER, (count,)).view(np.ndarray)
            array: NDArray[Any] = np.frombuffer(stream.read(), dtype=found)
            return array
    except FileNotFoundError:
        raise NotFoundError(f"the index lacks its file {str(path)!r}; restore it, or rebuild the index") from None
    except (ValueError, OSError) as error:
        raise DataError(f"the file is damaged ({error}); restore it, or rebuild the index", path=path) from None


def checked_offsets(offsets: NDArray[np.int64], end: int, path: Path) -> NDArray[np.int64]:
    """The offsets if they ascend from 0 to the end; otherwise `DataError`, before anything reads out of bounds.

    >>> checked_offsets(np.array([0, 3, 2]), 2, Path("a.npy"))
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: a.npy: the file is damaged (its offsets do not ascend from 0 to 2); restore it, ...
    """
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != end or (offsets[1:] < offsets[:-1]).any():
        reason = f"the file is damaged (its offsets do not ascend from 0 to {end:,}); restore it, or rebuild the index"
        raise DataError(reason, path=path)
    return offsets
