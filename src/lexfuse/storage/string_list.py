"""A long list of strings on disk: UTF-8 bytes and the offsets of each string."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import I64, offsets_of, read_only
from lexfuse.errors import DataError
from lexfuse.storage.array_file import checked_offsets, map_array, save_array


class StringList:
    """Strings in a fixed order, memory-mapped; decoding and the lookup table happen on first use.

    >>> names = StringList.of(["droit", "loi"])
    >>> names[1], len(names), names.find("droit"), names.find("x")
    ('loi', 2, 0, None)
    """

    __slots__ = ("_bytes", "_offsets", "_path", "_places", "_strings")

    def __init__(self, offsets: I64, data: NDArray[np.uint8], path: Path | None = None) -> None:
        """Keep the offsets, the bytes, and their path for error messages."""
        self._offsets = offsets
        self._bytes = data
        self._path = path
        self._places: dict[str, int] | None = None
        self._strings: list[str] | None = None

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringList:
        """A list of these strings."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        offsets = offsets_of(np.array([len(one) for one in encoded], dtype=np.int64))
        return cls(read_only(offsets), read_only(np.frombuffer(b"".join(encoded), dtype=np.uint8).copy()))

    def find(self, string: str) -> int | None:
        """The position of a string, or ``None``."""
        return self._table.get(string)

    def find_all(self, strings: Iterable[str], count: int) -> I64:
        """The positions of strings, -1 for unknown ones.

        >>> StringList.of(["a", "b"]).find_all(["b", "c"], 2).tolist()
        [1, -1]
        """
        return np.fromiter(map(self._table.get, strings, repeat(-1)), dtype=np.int64, count=count)

    @property
    def _table(self) -> dict[str, int]:
        if self._places is None:
            self._places = {one: at for at, one in enumerate(self.strings())}
        return self._places

    def save(self, stem: Path) -> Iterator[Path]:
        """Write ``stem.offsets.npy`` and ``stem.bytes.npy``, yielding each path."""
        for name, array in (("offsets", self._offsets), ("bytes", self._bytes)):
            yield save_array(stem.with_name(f"{stem.name}.{name}.npy"), array)

    @classmethod
    def load(cls, stem: Path) -> StringList:
        """Map a saved list into memory.

        >>> _ = list(StringList.of(["a"]).save(folder / "terms"))
        >>> list(StringList.load(folder / "terms"))
        ['a']
        """
        offsets_path, bytes_path = (stem.with_name(f"{stem.name}.{name}.npy") for name in ("offsets", "bytes"))
        data = map_array(bytes_path, np.uint8)
        return cls(checked_offsets(map_array(offsets_path, np.int64), len(data), offsets_path), data, bytes_path)

    def __getitem__(self, at: int) -> str:
        """The string at a position."""
        if not 0 <= at < len(self):
            raise IndexError(f"no string {at} among {len(self)}")
        return self._decoded(self._bytes[self._offsets[at] : self._offsets[at + 1]].tobytes())

    def __len__(self) -> int:
        """The number of strings."""
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[str]:
        """The strings in order."""
        return iter(self.strings())

    def strings(self) -> list[str]:
        """All strings, read-only."""
        if self._strings is None:
            self._strings = self._all()
        return self._strings

    def _all(self) -> list[str]:
        data, offsets = self._bytes.tobytes(), self._offsets.tolist()
        if data.isascii():  # characters are bytes, so one decode is enough
            text = data.decode("ascii")
            return [text[start:end] for start, end in pairwise(offsets)]
        return [self._decoded(data[start:end]) for start, end in pairwise(offsets)]

    def _decoded(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            reason = f"the file is damaged ({raw[:40]!r} is not UTF-8); restore it, or rebuild the index"
            raise DataError(reason, path=self._path) from None
