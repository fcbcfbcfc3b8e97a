"""Two numberings of documents: raw, as the files of a channel hold them, and live, as a snapshot shows them.

Files never change, so what was deleted keeps its place in them, and a channel may hold documents in another order than
the rest of the index, or not yet all of them. Kernels work on raw numbers; runs and masks have live ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexfuse.data.arrays import I32, I64, Bools
from lexfuse.data.ids import Ids
from lexfuse.errors import ConfigError


@dataclass(frozen=True, eq=False)
class Numbering:
    """Raw numbers run file after file; `places` gives the live number of each, -1 for the dead.

    >>> numbering = Numbering(Ids(["a", "b"]), np.array([0, 3]), np.array([1, -1, 0], dtype=np.int32))
    >>> numbering.alive.tolist(), numbering.raw.tolist(), numbering.order.tolist()
    ([True, False, True], [2, 0], [1, 2, 0])
    """

    ids: Ids  # of the living
    bases: I64  # first raw number of each file, and the end
    places: I32

    def __len__(self) -> int:
        """How many raw numbers there are."""
        return len(self.places)

    @cached_property
    def alive(self) -> Bools:
        """Which raw numbers are documents of the snapshot."""
        return self.places >= 0

    @cached_property
    def raw(self) -> I32:
        """Live number to raw number, -1 where the channel does not hold the document."""
        raw = np.full(len(self.ids), -1, dtype=np.int32)
        raw[self.places[self.alive]] = np.flatnonzero(self.alive)
        return raw

    @property
    def complete(self) -> bool:
        """Whether the channel holds every document."""
        return bool((self.raw >= 0).all())

    @cached_property
    def order(self) -> I32:
        """Position of each id among all, for ties; the dead come last."""
        # The documents of a segment stand in the order of their ids.
        if len(self.bases) == 2 and self.alive.all() and np.array_equal(self.places, np.arange(len(self.places))):
            return np.arange(len(self.places), dtype=np.int32)
        order = np.empty(len(self.places), dtype=np.int32)
        order[self.alive] = self.ids.order[self.places[self.alive]]
        order[~self.alive] = np.arange(len(self.ids), len(self.ids) + int((~self.alive).sum()), dtype=np.int32)
        return order

    def mask(self, within: Bools | None) -> Bools:
        """One flag per raw number, or none at all where every one is allowed; a `ConfigError` for a mask of another length.

        >>> numbering = Numbering(Ids(["a"]), np.array([0, 2]), np.array([-1, 0], dtype=np.int32))
        >>> numbering.mask(None).tolist(), numbering.mask(np.array([False])).tolist()
        ([False, True], [False, False])
        >>> numbering.mask(np.array([True, True]))
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: a mask must have one flag for each of the 1 documents, got 2; make it from the same snapshot
        """
        if within is None:
            return np.empty(0, dtype=np.bool_) if self.alive.all() else self.alive
        mask = np.zeros(len(self.places), dtype=np.bool_)
        mask[self.alive] = allowed(within, len(self.ids))[self.places[self.alive]]
        return mask


def allowed(within: Bools, documents: int) -> Bools:
    """A mask with one flag per document, as it came; a `ConfigError` for another length.

    >>> allowed(np.array([True]), 1).tolist()
    [True]
    """
    if len(within) != documents:
        expected = f"a mask must have one flag for each of the {documents:,} documents"
        raise ConfigError(f"{expected}, got {len(within):,}; make it from the same snapshot")
    return within
