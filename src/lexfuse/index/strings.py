"""A long list of strings on disk: one run of UTF-8 bytes and where each string starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import I64, frozen, offsets_of
from lexfuse.index.mapping import mapped, save_array


class StringList:
    """Strings in a fixed order, memory-mapped; looking one up builds a table on first use.

    >>> names = StringList.of(["droit", "loi"])
    >>> names[1], len(names), names.find("droit"), names.find("x")
    ('loi', 2, 0, None)
    """

    __slots__ = ("_bytes", "_offsets", "_places")

    def __init__(self, offsets: I64, data: NDArray[np.uint8]) -> None:
        """Keep the offsets and the bytes."""
        self._offsets = offsets
        self._bytes = data
        self._places: dict[str, int] | None = None

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringList:
        """A list of these strings.

        >>> list(StringList.of(["é", ""]))
        ['é', '']
        """
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        offsets = offsets_of(np.array([len(one) for one in encoded], dtype=np.int64))
        return cls(frozen(offsets), frozen(np.frombuffer(b"".join(encoded), dtype=np.uint8).copy()))

    def find(self, string: str) -> int | None:
        """The position of a string, None if it is not here.

        >>> StringList.of(["a"]).find("a")
        0
        """
        if self._places is None:
            self._places = {one: at for at, one in enumerate(self)}
        return self._places.get(string)

    def save(self, stem: Path) -> Iterator[Path]:
        """Write the two files ``stem.offsets.npy`` and ``stem.bytes.npy`` and tell each.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in StringList.of(["a"]).save(Path(folder, "terms"))]
        ['terms.offsets.npy', 'terms.bytes.npy']
        """
        for name, array in (("offsets", self._offsets), ("bytes", self._bytes)):
            yield save_array(stem.with_name(f"{stem.name}.{name}.npy"), array)

    @classmethod
    def load(cls, stem: Path) -> StringList:
        """Map a saved list into memory.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = list(StringList.of(["a"]).save(Path(folder, "terms")))
        ...     list(StringList.load(Path(folder, "terms")))
        ['a']
        """
        return cls(mapped(stem.with_name(f"{stem.name}.offsets.npy")), mapped(stem.with_name(f"{stem.name}.bytes.npy")))

    def __getitem__(self, at: int) -> str:
        """The string at a position."""
        start, end = self._offsets[at], self._offsets[at + 1]
        return bytes(self._bytes[start:end]).decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        """How many strings there are."""
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[str]:
        """The strings in order."""
        data, offsets = bytes(self._bytes), self._offsets.tolist()
        for start, end in pairwise(offsets):
            yield data[start:end].decode("utf-8", "surrogatepass")
