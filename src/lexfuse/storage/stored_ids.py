"""Ids of a snapshot, read lazily: reading a million takes a second, and a search shows ten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import overload

import numpy as np

from lexfuse.data.arrays import I32, I64, Bools
from lexfuse.data.ids import Ids
from lexfuse.errors import NotFoundError
from lexfuse.storage.string_list import StringList


class StoredIds(Ids):
    """The live ids of segments in order; the full list and its table are built on demand.

    >>> ids = StoredIds([StringList.of(["a", "b"]), StringList.of(["0"])], np.array([False, True, True]))
    >>> len(ids), ids[1], ids.ordinal("b"), ids
    (2, '0', 0, Ids(['b', '0'], n=2))
    """

    def __init__(self, lists: Sequence[StringList], alive: Bools) -> None:
        """Keep the ids and the live flags of every segment; the catalog ensures that ids are unique."""
        self._lists = lists
        self._alive = alive
        self._order = None

    @cached_property
    def _names(self) -> tuple[str, ...]:  # type: ignore[override]
        names = tuple(chain.from_iterable(strings.strings() for strings in self._lists))
        return names if self._alive.all() else tuple(compress(names, self._alive.tolist()))

    @cached_property
    def _raw(self) -> I64:
        """Raw number, including deleted documents, of every live document."""
        return np.flatnonzero(self._alive)

    @cached_property
    def _ends(self) -> I64:
        return np.cumsum([len(strings) for strings in self._lists], dtype=np.int64)

    @overload
    def __getitem__(self, ordinal: int) -> str: ...
    @overload
    def __getitem__(self, ordinal: slice) -> tuple[str, ...]: ...
    def __getitem__(self, ordinal: int | slice) -> str | tuple[str, ...]:
        """The name at an ordinal, read alone if the others are not loaded yet, or the names of a slice."""
        if isinstance(ordinal, slice) or "_names" in self.__dict__:
            return self._names[ordinal]
        raw = int(self._raw[ordinal])
        at = int(np.searchsorted(self._ends, raw, side="right"))
        return self._lists[at][raw - int(self._ends[at]) + len(self._lists[at])]

    def __len__(self) -> int:
        """The number of names."""
        return len(self._raw)

    def ordinal(self, name: str) -> int:
        """The ordinal of a name, from the tables of the segments; `NotFoundError` for an unknown name."""
        found = self._found(name)
        if found is None:
            raise NotFoundError(f"no id {name!r} among {len(self)} ids")
        return found

    def ordinals(self, names: Iterable[str]) -> I32:
        """Ordinals of many names, -1 for unknown names."""
        names = tuple(names)
        ordinals = np.full(len(names), -1, dtype=np.int32)
        for strings, end in zip(self._lists, self._ends.tolist(), strict=True):
            at = strings.find_all(names, len(names))
            held = np.flatnonzero(at >= 0)
            raw = at[held] + end - len(strings)
            living = self._alive[raw]
            ordinals[held[living]] = self._places[raw[living]]
        return ordinals

    def __contains__(self, name: object) -> bool:
        """Whether a name is known, in constant time."""
        return isinstance(name, str) and self._found(name) is not None

    def _found(self, name: str) -> int | None:
        for strings, end in zip(self._lists, self._ends.tolist(), strict=True):
            at = strings.find(name)
            if at is not None and self._alive[raw := at + end - len(strings)]:
                return int(self._places[raw])
        return None

    @cached_property
    def _places(self) -> I32:
        """The ordinal of every live document, by raw number."""
        return np.cumsum(self._alive, dtype=np.int32) - np.int32(1)
