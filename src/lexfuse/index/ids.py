"""Ids of a snapshot: a million of them take a second to read, and a search shows ten."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, compress
from typing import overload

import numpy as np

from lexfuse.data.arrays import I64, Bools
from lexfuse.data.ids import Ids
from lexfuse.index.strings import StringList


class StoredIds(Ids):
    """The living ids of segments, segment after segment; names and their table are made when all are asked for.

    >>> ids = StoredIds([StringList.of(["a", "b"]), StringList.of(["0"])], np.array([False, True, True]))
    >>> len(ids), ids[1], ids.ordinal("b"), ids
    (2, '0', 0, Ids(['b', '0'], n=2))
    """

    def __init__(self, lists: Sequence[StringList], alive: Bools) -> None:
        """Take the ids of every segment, and who is alive; that an index has no id twice its catalog sees to."""
        self._lists = lists
        self._alive = alive
        self._order = None

    @cached_property
    def _names(self) -> tuple[str, ...]:  # type: ignore[override]
        names = tuple(chain.from_iterable(strings.strings() for strings in self._lists))
        return names if self._alive.all() else tuple(compress(names, self._alive.tolist()))

    @cached_property
    def _ordinals(self) -> dict[str, int]:  # type: ignore[override]
        return dict(zip(self._names, range(len(self)), strict=True))

    @cached_property
    def _raw(self) -> I64:
        """Raw number, the dead counted, of every living document."""
        return np.flatnonzero(self._alive)

    @cached_property
    def _ends(self) -> I64:
        return np.cumsum([len(strings) for strings in self._lists], dtype=np.int64)

    @overload
    def __getitem__(self, ordinal: int) -> str: ...
    @overload
    def __getitem__(self, ordinal: slice) -> tuple[str, ...]: ...
    def __getitem__(self, ordinal: int | slice) -> str | tuple[str, ...]:
        """The name at an ordinal, read alone where the others are not known yet, or the names of a slice."""
        if isinstance(ordinal, slice) or "_names" in self.__dict__:
            return self._names[ordinal]
        raw = int(self._raw[ordinal])
        at = int(np.searchsorted(self._ends, raw, side="right"))
        return self._lists[at][raw - int(self._ends[at]) + len(self._lists[at])]

    def __len__(self) -> int:
        """How many names there are."""
        return len(self._raw)
