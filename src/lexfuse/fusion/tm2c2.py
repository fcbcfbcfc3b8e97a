"""TM2C2: a convex combination of scores normalised by their theoretical minimum (BRUCH eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import NormalisedFusion
from lexfuse.fusion.normalisation import Normaliser, TheoreticalMinMax
from lexfuse.fusion.union import Missing


@dataclass(frozen=True, slots=True)
class TM2C2(NormalisedFusion):
    """BRUCH's convex combination with theoretical min-max: alpha for semantic sources, the rest for lexical ones.

    The first `lexical` sources share 1 - alpha equally, all others alpha; BRUCH has one of each, and alpha = 0.8.

    >>> TM2C2().source_weights(2).round(2).tolist(), TM2C2().source_weights(3).round(2).tolist()
    ([0.2, 0.8], [0.2, 0.4, 0.4])
    """

    name: ClassVar[str] = "tm2c2"
    normalisers: ClassVar[Normaliser] = TheoreticalMinMax()
    alpha: float = 0.8
    lexical: int = 1
    missing: Missing = Missing.RESCORE

    def __post_init__(self) -> None:
        """Refuse values outside of their range."""
        if not 0 <= self.alpha <= 1:
            raise ConfigError(f"alpha must lie between 0 and 1, got {self.alpha}; 0.8 is BRUCH's value")
        if self.lexical < 0:
            raise ConfigError(f"the number of lexical sources must be 0 or more, got {self.lexical}")

    def source_weights(self, sources: int) -> F64:
        """The weight of each source."""
        lexical = min(self.lexical, sources)
        semantic = sources - lexical
        if not lexical or not semantic:
            return np.full(sources, 1.0 / sources)
        return np.concatenate([np.full(lexical, (1 - self.alpha) / lexical), np.full(semantic, self.alpha / semantic)])
