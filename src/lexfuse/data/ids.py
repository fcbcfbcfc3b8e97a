"""Names and ordinals: the LexFuse tables refer to documents and queries by small integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import itemgetter
from typing import overload

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.errors import DataError, NotFoundError


class Ids(Sequence[str]):
    """Unique names in a fixed order; the ordinal of a name is its position.

    Corpora, runs and qrels share one `Ids` object, so an ordinal means the same document everywhere.

    >>> ids = Ids(["L1237-19", "L1"])
    >>> ids.ordinal("L1"), ids[0], len(ids)
    (1, 'L1237-19', 2)
    """

    __slots__ = ("_names", "_order", "_ordinals")

    def __init__(self, names: Iterable[str]) -> None:
        """Keep the names in order; a repeated name is a `DataError`."""
        self._names = tuple(names)
        self._ordinals: dict[str, int] = {name: ordinal for ordinal, name in enumerate(self._names)}
        self._order: I32 | None = None
        if len(self._ordinals) != len(self._names):
            seen: set[str] = set()
            twice = next(name for name in self._names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise DataError(f"id {twice!r} is repeated; ids must be unique")

    @property
    def names(self) -> tuple[str, ...]:
        """All names by ordinal."""
        return self._names

    @property
    def order(self) -> I32:
        """Position of each ordinal in the sorted names: the second key of the tie rule.

        >>> Ids(["b", "a"]).order.tolist()
        [1, 0]
        """
        if self._order is None:
            by_name = np.array(sorted(range(len(self._names)), key=self._names.__getitem__), dtype=np.int64)
            order = np.empty(len(by_name), dtype=np.int32)
            order[by_name] = np.arange(len(by_name), dtype=np.int32)
            order.flags.writeable = False
            self._order = order
        return self._order

    def ordinal(self, name: str) -> int:
        """The ordinal of a name; `NotFoundError` for an unknown name."""
        try:
            return self._ordinals[name]
        except KeyError:
            raise NotFoundError(f"no id {name!r} among {len(self)} ids") from None

    def ordinals(self, names: Iterable[str]) -> I32:
        """Ordinals of many names, -1 for unknown names.

        >>> Ids(["x", "y"]).ordinals(["y", "z"]).tolist()
        [1, -1]
        """
        names = tuple(names)
        if len(names) > 1:  # one call of itemgetter is twice as fast, but has no default
            try:
                return np.fromiter(itemgetter(*names)(self._ordinals), dtype=np.int32, count=len(names))
            except KeyError:
                pass
        return np.fromiter(map(self._ordinals.get, names, repeat(-1)), dtype=np.int32, count=len(names))

    @overload
    def __getitem__(self, ordinal: int) -> str: ...
    @overload
    def __getitem__(self, ordinal: slice) -> tuple[str, ...]: ...
    def __getitem__(self, ordinal: int | slice) -> str | tuple[str, ...]:
        """The name at an ordinal, or the names of a slice."""
        return self._names[ordinal]

    def __len__(self) -> int:
        """The number of names."""
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        """The names, in order."""
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        """Whether a name is known, in constant time."""
        return name in self._ordinals

    def __eq__(self, other: object) -> bool:
        """Equal when the names are the same in the same order."""
        return isinstance(other, Ids) and (self is other or self._names == other._names)

    def __hash__(self) -> int:
        """Hash of the names."""
        return hash(self._names)

    def __repr__(self) -> str:
        """A short form that never prints a whole corpus."""
        head = ", ".join(map(repr, self._names[:3]))
        return f"Ids([{head}{', …' if len(self) > 3 else ''}], n={len(self)})"
