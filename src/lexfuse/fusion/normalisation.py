"""Normalisers: map the scores of a source to a scale on which sources can be added.

Each works per query on the true scores of the union set; missing scores are imputed afterwards (`Missing`). If all scores of a
query are equal, min-max gives 0.5 and z-score 0 for every document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from lexfuse.data.arrays import F64, Bools
from lexfuse.errors import ConfigError
from lexfuse.fusion.union import Missing, Union

LEVEL = 0.5  # min-max of equal scores


class Normaliser(Protocol):
    """Maps the scores of one source of a union set to another scale, monotonically."""

    name: ClassVar[str]

    def of(self, union: Union, source: int) -> F64:
        """The normalised score of every candidate; NaN if the source has none."""


@dataclass(frozen=True, slots=True)
class MinMax:
    """From 0 for the lowest score of the query to 1 for its highest (FUSE eq. 21, BRUCH eq. 2).

    >>> MinMax().of(union_of([Run.of("a", {"q": {"x": 4.0, "y": 1.0, "z": 2.5}})]), 0).tolist()
    [1.0, 0.5, 0.0]
    """

    name: ClassVar[str] = "min-max"

    def of(self, union: Union, source: int) -> F64:
        """(score - lowest) / (highest - lowest)."""
        return _scaled(union, source, lowest(union, source))


@dataclass(frozen=True, slots=True)
class TheoreticalMinMax:
    """From 0 for the lowest possible score of the source to 1 for the highest of the query (BRUCH eq. 4).

    The lowest possible score is the infimum of the retriever for the query: 0 for BM25, -1 for a cosine, minus the number of
    query tokens for MaxSim, minus the product of the norms for a dot product.

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
        some = spread > 1e-12 * np.abs(mean)  # less is rounding error of equal scores
        return _divided(union, source, away, spread, some, 0.0)


@dataclass(frozen=True, slots=True)
class Percentile:
    """The share of all scores of the source that are lower (FUSE, section 3).

    For an index, "all scores" is a distribution estimated from it and stored with it: the same score has the same value for every
    query. For rankings from files, it is all scores of the run.

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
    """Unchanged scores."""

    name: ClassVar[str] = "identity"

    def of(self, union: Union, source: int) -> F64:
        """The score itself."""
        row: F64 = union.scores[source]
        return row


def imputed(union: Union, source: int, normalised: F64, missing: Missing) -> F64:
    """Normalised scores with imputed missing ones: the lowest of the query, or 0.

    If a source has no score for a query, every document gets 0.

    >>> union = union_of([Run.of("a", {"q": {"x": 4.0, "y": 2.0}}), Run.of("b", {"q": {"z": 1.0}})])
    >>> imputed(union, 0, union.scores[0], Missing.MIN).tolist()
    [4.0, 2.0, 2.0]
    """
    if missing is Missing.ZERO:
        return zero_for_nan(normalised)
    least = union.per_candidate(zero_for_nan(union.per_query(np.fmin, union.basis(normalised))))
    if union.guests:  # they may be lower
        return np.where(union.known[source], normalised, least)
    return np.fmax(normalised, least)  # prefers a number to NaN


def lowest(union: Union, source: int) -> F64:
    """The lowest true score of every query; NaN if the source has none."""
    return union.per_query(np.fmin, union.basis(union.scores[source]))


def zero_for_nan(values: F64) -> F64:
    """Replace NaN by 0; several times faster than `np.where`, which depends on branch prediction."""
    found: F64 = np.fmax(values, 0.0) + np.fmin(values, 0.0)
    return found


def _scaled(union: Union, source: int, low: F64) -> F64:
    row = union.scores[source]
    width = union.per_query(np.fmax, union.basis(row)) - low
    return _divided(union, source, row - union.per_candidate(low), width, width > 0, LEVEL)


def _divided(union: Union, source: int, above: F64, width: F64, some: Bools, level: float) -> F64:
    """The distance from the base divided by the width of the query, or a constant if the width is (nearly) 0."""
    scaled: F64 = above / union.per_candidate(np.where(some, width, 1.0))
    if not some.all():
        scaled[~union.per_candidate(some) & union.known[source]] = level
    return scaled


def normalised(union: Union, normaliser: Normaliser | Sequence[Normaliser], missing: Missing) -> F64:
    """The normalised scores of all sources, with missing ones imputed.

    >>> normalised(union_of([Run.of("a", {"q": {"x": 2.0, "y": 0.0}})]), MinMax(), Missing.MIN).tolist()
    [[1.0, 0.0]]
    """
    sources = len(union.names)
    each = list(normaliser) if isinstance(normaliser, Sequence) else [normaliser] * sources
    if len(each) != sources:
        raise ConfigError(f"{len(each)} normalisers for {sources} sources; give one for all, or one each")
    return np.stack([imputed(union, at, one.of(union, at), missing) for at, one in enumerate(each)])
