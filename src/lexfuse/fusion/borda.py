"""Borda count fusion: points by position in each ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Missing, Union


@dataclass(frozen=True, slots=True)
class Borda(Fusion):
    """Sum over sources of (length of the source's list - rank + 1), FUSE eq. 17; never below 0.

    FUSE ranks the whole corpus, so its lists have equal length. Here the length is the number of documents of the union set that
    the source scores; a document without a score gets 0.

    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0}})]
    >>> Borda().fuse(runs, 10).as_dict()
    {'q': {'x': 2.0, 'y': 2.0}}
    """

    name: ClassVar[str] = "borda"
    missing: Missing = Missing.RESCORE

    def values(self, union: Union) -> F64:
        """Length - rank + 1."""
        points = (union.per_candidate(union.sizes) - union.ranks + 1) * (union.ranks > 0)
        return points.astype(np.float64)
