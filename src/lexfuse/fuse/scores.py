"""Score-based fusion: normalised scores, weighted and added.

The convex combination is FUSE's normalised score fusion (eq. 20) and BRUCH's eq. 3; with theoretical min-max it is BRUCH's
TM2C2, the default of LexFuse. CombMNZ and CombMAX are the classical others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.fuse.fusion import Fusion
from lexfuse.fuse.normalise import MinMax, Normaliser, TheoreticalMinMax, imputed
from lexfuse.fuse.ranks import check_weights
from lexfuse.fuse.union import Missing, Union

_MIN_MAX = MinMax()
_NEAR = 1e-6  # weights sum to one if they are as near as that


@dataclass(frozen=True, slots=True)
class Convex(Fusion):
    """Sum over sources of weight * normalised score; weights sum to one, and are equal if not given.

    One normaliser serves all sources, or each has its own: `Convex((0.2, 0.8), (ZScore(), TheoreticalMinMax()))`.

    >>> from lexfuse.data.run import Run
    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 0.0}}), Run.of("b", {"q": {"y": 9.0, "x": 1.0}})]
    >>> Convex((0.25, 0.75)).fuse(runs, 10).as_dict()
    {'q': {'y': 0.75, 'x': 0.25}}
    """

    name: ClassVar[str] = "convex"
    weight: Sequence[float] | None = None
    normaliser: Normaliser | Sequence[Normaliser] = _MIN_MAX
    missing: Missing = Missing.RESCORE

    def __post_init__(self) -> None:
        """Refuse weights that are negative or do not sum to one."""
        if self.weight is not None:
            check_weights(self.weight)
            if abs(sum(self.weight) - 1) > _NEAR:
                raise ConfigError(f"weights must sum to 1, got {list(self.weight)}, which sum to {sum(self.weight):g}")

    def weights(self, sources: int) -> F64:
        """The weight of each source."""
        if self.weight is None:
            return np.full(sources, 1.0 / sources)
        if len(self.weight) != sources:
            raise ConfigError(f"{len(self.weight)} weights for {sources} sources; give one each")
        return np.asarray(self.weight, dtype=np.float64)

    def values(self, union: Union) -> F64:
        """The normalised scores."""
        return normalised(union, self.normaliser, self.missing)

    def uses_infimum(self) -> bool:
        """Whether a source is normalised by theoretical min-max."""
        return uses_infimum(self.normaliser)


@dataclass(frozen=True, slots=True)
class TM2C2(Fusion):
    """The convex combination of BRUCH with theoretical min-max: alpha on what is semantic, the rest on what is lexical.

    The first `lexical` sources share 1 - alpha equally, all others alpha; BRUCH has one of each, and alpha = 0.8.

    >>> TM2C2().weights(2).round(2).tolist(), TM2C2().weights(3).round(2).tolist()
    ([0.2, 0.8], [0.2, 0.4, 0.4])
    """

    name: ClassVar[str] = "tm2c2"
    alpha: float = 0.8
    lexical: int = 1
    missing: Missing = Missing.RESCORE

    def __post_init__(self) -> None:
        """Refuse shares outside of their range."""
        if not 0 <= self.alpha <= 1:
            raise ConfigError(f"alpha must lie between 0 and 1, got {self.alpha}; 0.8 is BRUCH's value")
        if self.lexical < 0:
            raise ConfigError(f"the number of lexical sources must be 0 or more, got {self.lexical}")

    def weights(self, sources: int) -> F64:
        """The weight of each source."""
        lexical = min(self.lexical, sources)
        semantic = sources - lexical
        if not lexical or not semantic:
            return np.full(sources, 1.0 / sources)
        return np.concatenate([np.full(lexical, (1 - self.alpha) / lexical), np.full(semantic, self.alpha / semantic)])

    def values(self, union: Union) -> F64:
        """Scores by theoretical min-max."""
        return normalised(union, TheoreticalMinMax(), self.missing)

    def uses_infimum(self) -> bool:
        """It does, for every source."""
        return True


@dataclass(frozen=True, slots=True)
class CombMNZ(Fusion):
    """Sum of the normalised scores, times the number of sources that list the document.

    >>> from lexfuse.data.run import Run
    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 1.0, "z": 0.0}}), Run.of("b", {"q": {"y": 9.0, "z": 0.0}})]
    >>> CombMNZ().fuse(runs, 10).as_dict()
    {'q': {'y': 3.0, 'x': 1.0, 'z': 0.0}}
    """

    name: ClassVar[str] = "combmnz"
    normaliser: Normaliser | Sequence[Normaliser] = _MIN_MAX
    missing: Missing = Missing.ZERO

    def values(self, union: Union) -> F64:
        """The normalised scores."""
        return normalised(union, self.normaliser, self.missing)

    def uses_infimum(self) -> bool:
        """Whether a source is normalised by theoretical min-max."""
        return uses_infimum(self.normaliser)

    def combined(self, values: F64, weights: F64, union: Union) -> F64:
        """The sum times the number of lists."""
        lists: F64 = (union.places > 0).sum(axis=0).astype(np.float64)
        return Fusion.combined(self, values, weights, union) * lists


@dataclass(frozen=True, slots=True)
class CombMax(Fusion):
    """The highest normalised score.

    >>> from lexfuse.data.run import Run
    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 0.0}}), Run.of("b", {"q": {"z": 9.0, "y": 0.0}})]
    >>> CombMax().fuse(runs, 10).as_dict()
    {'q': {'x': 1.0, 'z': 1.0, 'y': 0.0}}
    """

    name: ClassVar[str] = "combmax"
    normaliser: Normaliser | Sequence[Normaliser] = _MIN_MAX
    missing: Missing = Missing.ZERO

    def values(self, union: Union) -> F64:
        """The normalised scores."""
        return normalised(union, self.normaliser, self.missing)

    def uses_infimum(self) -> bool:
        """Whether a source is normalised by theoretical min-max."""
        return uses_infimum(self.normaliser)

    def combined(self, values: F64, weights: F64, union: Union) -> F64:
        """The highest of the values."""
        return values.max(axis=0) if len(values) else np.zeros(len(union))


def uses_infimum(normaliser: Normaliser | Sequence[Normaliser]) -> bool:
    """Whether a normaliser, or one of several, needs the lowest possible score.

    >>> uses_infimum([MinMax(), TheoreticalMinMax()])
    True
    """
    each = normaliser if isinstance(normaliser, Sequence) else [normaliser]
    return any(isinstance(one, TheoreticalMinMax) for one in each)


def normalised(union: Union, normaliser: Normaliser | Sequence[Normaliser], missing: Missing) -> F64:
    """The normalised scores of all sources, with a number for each that is missing.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fuse.union import union_of
    >>> normalised(union_of([Run.of("a", {"q": {"x": 2.0, "y": 0.0}})]), MinMax(), Missing.MIN).tolist()
    [[1.0, 0.0]]
    """
    sources = len(union.names)
    each = list(normaliser) if isinstance(normaliser, Sequence) else [normaliser] * sources
    if len(each) != sources:
        raise ConfigError(f"{len(each)} normalisers for {sources} sources; give one for all, or one each")
    return np.stack([imputed(union, at, one.of(union, at), missing) for at, one in enumerate(each)])
