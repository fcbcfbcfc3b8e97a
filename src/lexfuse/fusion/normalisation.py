"""Normalisers: scores of one source on a scale that scores of others can be added to.

Each works query by query on the true scores of the union set; what a source does not know is imputed afterwards (`Missing`).
Where a query has no spread there is nothing to tell apart: min-max gives 0.5 and z-score 0, for every document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from lexfuse.data.arrays import F64, Bools
from lexfuse.errors import ConfigError
from lexfuse.fusion.union import Missing, Union

LEVEL = 0.5  # what min-max gives where all scores are equal


class Normaliser(Protocol):
    """Scores of one source of a union set, on another scale; rising scores stay rising.

    >>> hasattr(MinMax, "of")
    True
    """

    name: ClassVar[str]

    def of(self, union: Union, source: int) -> F64:
        """The normalised score of every candidate; NaN where the source knows none."""


@dataclass(frozen=True, slots=True)
class MinMax:
    """From 0 for the lowest score of the query to 1 for its highest (FUSE eq. 21, BRUCH eq. 2).

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> MinMax().of(union_of([Run.of("a", {"q": {"x": 4.0, "y": 1.0, "z": 2.5}})]), 0).tolist()
    [1.0, 0.5, 0.0]
    """

    name: ClassVar[str] = "min-max"

    def of(self, union: Union, source: int) -> F64:
        """(score - lowest) / (highest - lowest)."""
        return _scaled(union, source, lowest(union, source))


@dataclass(frozen=True, slots=True)
class TheoreticalMinMax:
    """From 0 for the least score that the source can give to 1 for the highest of the query (BRUCH eq. 4).

    The least is the infimum of the retriever for the query: 0 for BM25, -1 for a cosine, minus the number of query tokens for
    MaxSim, minus the product of the norms for a dot product.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> TheoreticalMinMax().of(union_of([Run.of("a", {"q": {"x": 4.0, "y": 1.0}}).bounded(0.0)]), 0).tolist()
    [1.0, 0.25]
    """

    name: ClassVar[str] = "theoretical-min-max"

    def of(self, union: Union, source: int) -> F64:
        """(score - infimum) / (highest - infimum)."""
        return _scaled(union, source, union.infimum(source))


@dataclass(frozen=True, slots=True)
class ZScore:
    """Distance from the mean of the query's scores in standard deviations (FUSE eq. 22, BRUCH eq. 5).

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> ZScore().of(union_of([Run.of("a", {"q": {"x": 3.0, "y": 1.0}})]), 0).tolist()
    [1.0, -1.0]
    """

    name: ClassVar[str] = "z-score"

    def of(self, union: Union, source: int) -> F64:
        """(score - mean) / standard deviation."""
        row = union.scores[source]
        count = np.maximum(union.sizes[source], 1)
        mean = union.per_query(np.add, zero_for_nan(union.basis(row))) / count
        away = row - union.per_candidate(mean)
        spread = np.sqrt(union.per_query(np.add, zero_for_nan(union.basis(np.square(away)))) / count)
        some = spread > 1e-12 * np.abs(mean)  # less is what rounding leaves of equal scores
        return _divided(union, source, away, spread, some, 0.0)


@dataclass(frozen=True, slots=True)
class Percentile:
    """The share of all scores of the source that are lower (FUSE, section 3).

    All scores are those of a distribution that was estimated from the index and is kept with it: the same score is worth the
    same for every query. Rankings from files have no index behind them: there, all scores are those of the whole run.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> run = Run.of("a", {"q": {"x": 4.5, "y": 0.5}, "p": {"x": 9.0, "y": 0.5}})
    >>> Percentile().of(union_of([run]), 0).round(3).tolist()
    [0.5, 0.0, 0.75, 0.0]
    """

    name: ClassVar[str] = "percentile"

    def of(self, union: Union, source: int) -> F64:
        """The share of lower scores; NaN stays."""
        return union.levels[source]().below(union.scores[source])


@dataclass(frozen=True, slots=True)
class Identity:
    """Scores as they are.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> Identity().of(union_of([Run.of("a", {"q": {"x": 4.0}})]), 0).tolist()
    [4.0]
    """

    name: ClassVar[str] = "identity"

    def of(self, union: Union, source: int) -> F64:
        """The score itself."""
        row: F64 = union.scores[source]
        return row


def imputed(union: Union, source: int, normalised: F64, missing: Missing) -> F64:
    """Normalised scores with a number for what the source does not know: its lowest of the query, or 0.

    Where it knows no score of a query at all it says nothing about it, and every document gets 0.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> union = union_of([Run.of("a", {"q": {"x": 4.0, "y": 2.0}}), Run.of("b", {"q": {"z": 1.0}})])
    >>> imputed(union, 0, union.scores[0], Missing.MIN).tolist()
    [4.0, 2.0, 2.0]
    """
    if missing is Missing.ZERO:
        return zero_for_nan(normalised)
    least = union.per_candidate(zero_for_nan(union.per_query(np.fmin, union.basis(normalised))))
    if union.guests:  # who may lie below
        return np.where(union.known[source], normalised, least)
    return np.fmax(normalised, least)  # a number rather than NaN


def lowest(union: Union, source: int) -> F64:
    """The lowest true score of every query; NaN where the source knows none.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> lowest(union_of([Run.of("a", {"q": {"x": 4.0, "y": 2.0}})]), 0).tolist()
    [2.0]
    """
    return union.per_query(np.fmin, union.basis(union.scores[source]))


def zero_for_nan(values: F64) -> F64:
    """Values with 0 for NaN; several times faster than `np.where`, whose speed depends on luck with branches.

    >>> zero_for_nan(np.array([-1.5, np.nan, 2.0])).tolist()
    [-1.5, 0.0, 2.0]
    """
    found: F64 = np.fmax(values, 0.0) + np.fmin(values, 0.0)
    return found


def _scaled(union: Union, source: int, low: F64) -> F64:
    row = union.scores[source]
    width = union.per_query(np.fmax, union.basis(row)) - low
    return _divided(union, source, row - union.per_candidate(low), width, width > 0, LEVEL)


def _divided(union: Union, source: int, above: F64, width: F64, some: Bools, level: float) -> F64:
    """What is above the base by the width of the query, or one level for all where there is no width to speak of."""
    scaled: F64 = above / union.per_candidate(np.where(some, width, 1.0))
    if not some.all():
        scaled[~union.per_candidate(some) & union.known[source]] = level
    return scaled


def normalised(union: Union, normaliser: Normaliser | Sequence[Normaliser], missing: Missing) -> F64:
    """The normalised scores of all sources, with a number for each that is missing.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> normalised(union_of([Run.of("a", {"q": {"x": 2.0, "y": 0.0}})]), MinMax(), Missing.MIN).tolist()
    [[1.0, 0.0]]
    """
    sources = len(union.names)
    each = list(normaliser) if isinstance(normaliser, Sequence) else [normaliser] * sources
    if len(each) != sources:
        raise ConfigError(f"{len(each)} normalisers for {sources} sources; give one for all, or one each")
    return np.stack([imputed(union, at, one.of(union, at), missing) for at, one in enumerate(each)])
