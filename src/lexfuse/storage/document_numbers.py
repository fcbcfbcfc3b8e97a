"""Two numberings of documents: raw, as in the files of a channel, and live, as in a snapshot.

Files never change, so deleted documents keep their place in them, and a channel may have documents in another order than the rest
of the index, or only some of them. Kernels use raw numbers; runs and masks use live ones.
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
    """Raw numbers run file after file; `places` gives the live number of each, -1 for deleted documents.

    >>> numbering = Numbering(Ids(["a", "b"]), np.array([0, 3]), np.array([1, -1, 0], dtype=np.int32))
    >>> numbering.alive.tolist(), numbering.raw.tolist(), numbering.order.tolist()
    ([True, False, True], [2, 0], [1, 2, 0])
    """

    ids: Ids  # of live documents
    bases: I64  # first raw number of each file, and the end
    places: I32

    def __len__(self) -> int:
        """The number of raw numbers."""
        return len(self.places)

    @cached_property
    def alive(self) -> Bools:
        """Which raw numbers are documents of the snapshot."""
        return self.places >= 0

    @cached_property
    def raw(self) -> I32:
        """Live number to raw number, -1 if the channel does not have the document."""
        raw = np.full(len(self.ids), -1, dtype=np.int32)
        raw[self.places[self.alive]] = np.flatnonzero(self.alive)
        return raw

    @property
    def complete(self) -> bool:
        """Whether the channel has every document."""
        return bool((self.raw >= 0).all())

    @cached_property
    def is_identity(self) -> bool:
        """Whether raw and live numbers are the same."""
        return len(self.places) == len(self.ids) and np.array_equal(self.places, np.arange(len(self.places)))

    @cached_property
    def order(self) -> I32:
        """Position of each id among all, for ties; deleted documents come last."""
        # The documents of a segment are sorted by id.
        if len(self.bases) == 2 and self.is_identity:
            return np.arange(len(self.places), dtype=np.int32)
        order = np.empty(len(self.places), dtype=np.int32)
        order[self.alive] = self.ids.order[self.places[self.alive]]
        order[~self.alive] = np.arange(len(self.ids), len(self.ids) + int((~self.alive).sum()), dtype=np.int32)
        return order

    def mask(self, within: Bools | None) -> Bools:
        """One flag per raw number, empty if all are allowed; a `ConfigError` for a mask of another length.

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
        if self.is_identity:
            return allowed(within, len(self.ids))
        mask = np.zeros(len(self.places), dtype=np.bool_)
        mask[self.alive] = allowed(within, len(self.ids))[self.places[self.alive]]
        return mask


def allowed(within: Bools, documents: int) -> Bools:
    """The mask if it has one flag per document; otherwise `ConfigError`."""
    if len(within) != documents:
        expected = f"a mask must have one flag for each of the {documents:,} documents"
        raise ConfigError(f"{expected}, got {len(within):,}; make it from the same snapshot")
    return within
