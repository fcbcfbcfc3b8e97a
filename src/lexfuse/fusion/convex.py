"""Score-based fusion: a weighted sum of normalised scores.

The convex combination is FUSE's normalised score fusion (eq. 20) and BRUCH's eq. 3; with theoretical min-max it is BRUCH's TM2C2,
the default of LexFuse.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.fusion.fusion import Fusion, check_weights
from lexfuse.fusion.normalisation import MinMax, Normaliser, TheoreticalMinMax, normalised
from lexfuse.fusion.union import Missing, Union

MIN_MAX = MinMax()
_NEAR = 1e-6  # tolerance of the sum of weights


class NormalisedFusion(Fusion):
    """A fusion of normalised scores."""

    @property
    @abstractmethod
    def normalisers(self) -> Normaliser | Sequence[Normaliser]:
        """One for all sources, or one each."""

    def values(self, union: Union) -> F64:
        """The normalised scores."""
        return normalised(union, self.normalisers, self.missing)

    def uses_infimum(self) -> bool:
        """Whether a source is normalised by theoretical min-max."""
        each = self.normalisers if isinstance(self.normalisers, Sequence) else [self.normalisers]
        return any(isinstance(one, TheoreticalMinMax) for one in each)


@dataclass(frozen=True, slots=True)
class Convex(NormalisedFusion):
    """Sum over sources of weight * normalised score; weights sum to one, and are equal by default.

    One normaliser serves all sources, or each has its own: `Convex((0.2, 0.8), (ZScore(), TheoreticalMinMax()))`.

    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 0.0}}), Run.of("b", {"q": {"y": 9.0, "x": 1.0}})]
    >>> Convex((0.25, 0.75)).fuse(runs, 10).as_dict()
    {'q': {'y': 0.75, 'x': 0.25}}
    """

    name: ClassVar[str] = "convex"
    weights: Sequence[float] | None = None
    normalisers: Normaliser | Sequence[Normaliser] = MIN_MAX
    missing: Missing = Missing.RESCORE

    def __post_init__(self) -> None:
        """Refuse weights that are negative or do not sum to one."""
        Fusion.__post_init__(self)
        if self.weights is not None:
            check_weights(self.weights)
            if np.ndim(self.weights) == 0:
                raise ConfigError(f"weights must be one number for each source, got {self.weights}")
            if abs(sum(self.weights) - 1) > _NEAR:
                raise ConfigError(f"weights must sum to 1, got {list(self.weights)}, which sum to {sum(self.weights):g}")

    def source_weights(self, sources: int) -> F64:
        """The weight of each source."""
        if self.weights is None:
            return np.full(sources, 1.0 / sources)
        if len(self.weights) != sources:
            raise ConfigError(f"{len(self.weights)} weights for {sources} sources; give one each")
        return np.asarray(self.weights, dtype=np.float64)


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
