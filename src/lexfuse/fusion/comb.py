"""CombMNZ and CombMax: sums and maxima of normalised scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.fusion.convex import MIN_MAX, NormalisedFusion
from lexfuse.fusion.normalisation import Normaliser
from lexfuse.fusion.union import Missing, Union


@dataclass(frozen=True, slots=True)
class CombMNZ(NormalisedFusion):
    """Sum of the normalised scores, times the number of sources that list the document.

    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 1.0, "z": 0.0}}), Run.of("b", {"q": {"y": 9.0, "z": 0.0}})]
    >>> CombMNZ().fuse(runs, 10).as_dict()
    {'q': {'y': 3.0, 'x': 1.0, 'z': 0.0}}
    """

    name: ClassVar[str] = "combmnz"
    normalisers: Normaliser | Sequence[Normaliser] = MIN_MAX
    missing: Missing = Missing.ZERO

    def combined(self, values: F64, weights: F64, union: Union) -> F64:
        """The sum times the number of lists."""
        lists: F64 = (union.places > 0).sum(axis=0).astype(np.float64)
        return NormalisedFusion.combined(self, values, weights, union) * lists


@dataclass(frozen=True, slots=True)
class CombMax(NormalisedFusion):
    """The highest normalised score.

    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 0.0}}), Run.of("b", {"q": {"z": 9.0, "y": 0.0}})]
    >>> CombMax().fuse(runs, 10).as_dict()
    {'q': {'x': 1.0, 'z': 1.0, 'y': 0.0}}
    """

    name: ClassVar[str] = "combmax"
    normalisers: Normaliser | Sequence[Normaliser] = MIN_MAX
    missing: Missing = Missing.ZERO

    def combined(self, values: F64, weights: F64, union: Union) -> F64:
        """The highest of the values."""
        return values.max(axis=0) if len(values) else np.zeros(len(union))
