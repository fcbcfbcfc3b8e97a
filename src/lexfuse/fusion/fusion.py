"""The base of every fusion: a value for each source and document, combined into one score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing, RankedSource, Union
from lexfuse.kernels.fusion import in_order


class Fusion(ABC):
    """A method to combine several rankings into one.

    A subclass defines the value of a document in a source (`values`) and the weight of each source (`source_weights`); the fused
    score is the weighted sum unless it overrides `combined`.

    A source of weight 0 is ignored: it adds no candidates, and statistics exclude what only it lists. So the fused ranking is
    that of the other sources, and all weight on one source gives its ranking ("rank-equivalent", BRUCH Fig. 5).

    >>> from lexfuse.fusion.reciprocal_rank import ReciprocalRank
    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0}})]
    >>> [hit.doc for hit in ReciprocalRank().fuse(runs, 10).hits("q")]
    ['x', 'y']
    """

    name: ClassVar[str]
    missing: Missing

    def __post_init__(self) -> None:
        """Keep lists as tuples, so that fusions with equal parameters are equal and can be hashed."""
        for name in ("weights", "eta", "normalisers"):
            if isinstance(value := getattr(self, name, None), list):
                object.__setattr__(self, name, tuple(value))

    def fuse(
        self, runs: Sequence[Run], k: int, *, sources: Sequence[RankedSource] | None = None, queries: Queries | None = None
    ) -> Run:
        """The best k documents of every query; `sources` provide the scores that their rankings lack."""
        union = union_of(runs, sources if self.missing is Missing.RESCORE else None, queries)
        return self.fused(union, k)

    def fused(self, union: Union, k: int, name: str | None = None) -> Run:
        """The best k documents of every query of a union set; the run is named after the fusion by default."""
        return union.ranked_by(name or self.name, self.scores(union), k)

    def scores(self, union: Union) -> F64:
        """The fused score of every candidate; -inf if no source with a weight lists it."""
        weights = self.source_weights(len(union.names))
        counting = np.flatnonzero(weights)
        fused = np.full(len(union), -np.inf)

        def score(block: Union, _: slice, candidates: slice) -> None:
            if not 0 < len(counting) < len(weights):
                fused[candidates] = self.combined(self.values(block), weights, block)
                return
            listed = block.listed_by(counting)
            some = block.select(listed)
            values = self.combined(self.values(some), weights, some)
            if len(counting) == 1:
                values = in_order(some.query, np.nan_to_num(some.scores[counting[0]], nan=-np.inf), values)
            fused[candidates][listed] = values

        union.in_blocks(score)
        return fused

    def uses_infimum(self) -> bool:
        """Whether the fusion uses the lowest possible score of some source (theoretical min-max)."""
        return False

    @abstractmethod
    def values(self, union: Union) -> F64:
        """The value of each candidate in each source: one row per source."""

    def source_weights(self, sources: int) -> F64:
        """The weight of each source."""
        return np.ones(sources)

    def combined(self, values: F64, weights: F64, union: Union) -> F64:
        """One score from the values of all sources."""
        total = np.zeros(values.shape[1])
        for row, weight in zip(values, weights.tolist(), strict=True):  # sequential: the same bits for any number of sources
            total += weight * row
        return total


def one_each(values: float | Sequence[float], sources: int, what: str) -> F64:
    """One number per source, from one for all or one each.

    >>> one_each(60.0, 2, "eta").tolist()
    [60.0, 60.0]
    >>> one_each([1.0], 2, "eta")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: eta has 1 values for 2 sources; give one for all, or one each
    """
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if len(found) == 1 and np.ndim(values) == 0:
        return np.repeat(found, sources)
    if len(found) != sources:
        raise ConfigError(f"{what} has {len(found)} values for {sources} sources; give one for all, or one each")
    return found


def check_weights(weight: float | Sequence[float]) -> None:
    """Refuse negative weights."""
    if not (np.isfinite(np.atleast_1d(weight)) & (np.atleast_1d(weight) >= 0)).all():
        raise ConfigError(f"weights must be 0 or more, got {weight}")
