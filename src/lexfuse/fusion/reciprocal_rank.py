"""Rank-based fusion: only ranks count, not scores (except in the smooth variant).

Reciprocal rank fusion is eq. 19 of FUSE and, with one constant per source, eq. 8 of BRUCH; with weights it is BRUCH's RRF-CC (eq.
10). Ranks are within the union set, as in BRUCH: a document that a source did not list is ranked by its true score or, if that is
unknown, after the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lexfuse.data.arrays import F64, I32
from lexfuse.errors import ConfigError
from lexfuse.fusion.fusion import Fusion, check_weights, one_each
from lexfuse.fusion.union import Missing, Union
from lexfuse.kernels.fusion import smooth_ranks


class WeightedRanks(Fusion):
    """The base of reciprocal ranks: constants and weights, one for all sources or one each."""

    eta: float | Sequence[float]
    weights: float | Sequence[float]

    def __post_init__(self) -> None:
        """Refuse invalid constants."""
        Fusion.__post_init__(self)
        check_eta(self.eta)
        check_weights(self.weights)

    def source_weights(self, sources: int) -> F64:
        """The weight of each source."""
        return one_each(self.weights, sources, "weights")


@dataclass(frozen=True, slots=True)
class ReciprocalRank(WeightedRanks):
    """Sum over sources of weight / (eta + rank).

    `Missing.ZERO` ignores sources that do not list a document, as most engines do.

    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0}})]
    >>> ReciprocalRank(eta=1.0, missing=Missing.ZERO).fuse(runs, 10).as_dict()
    {'q': {'y': 0.8333333134651184, 'x': 0.5}}
    """

    name: ClassVar[str] = "rrf"
    eta: float | Sequence[float] = 60.0
    weights: float | Sequence[float] = 1.0
    missing: Missing = Missing.RESCORE

    def values(self, union: Union) -> F64:
        """1 / (eta + rank)."""
        return _reciprocal(union, one_each(self.eta, len(union.names), "eta"), union.ranks, self.missing)


@dataclass(frozen=True, slots=True)
class SmoothReciprocalRank(WeightedRanks):
    """Reciprocal ranks with a sigmoid of steepness beta for each comparison of scores (SRRF, BRUCH eq. 9).

    The rank is 0.5 plus the sum over the source's list of sigmoid(beta * (score there - score of the document)); it tends to the
    rank as beta grows.
    """

    name: ClassVar[str] = "srrf"
    eta: float | Sequence[float] = 60.0
    beta: float = 40.0
    weights: float | Sequence[float] = 1.0
    missing: Missing = Missing.RESCORE

    def __post_init__(self) -> None:
        """Refuse invalid constants."""
        WeightedRanks.__post_init__(self)
        if not 0 < self.beta < np.inf:
            raise ConfigError(f"beta must be above 0, got {self.beta}; BRUCH takes 40 with eta 60, and 100 with eta 5")

    def values(self, union: Union) -> F64:
        """1 / (eta + smooth rank)."""
        rows = [
            smooth_ranks(union.offsets, np.where(known, row, 0.0), known, places > 0, self.beta)
            for row, known, places in zip(union.scores, union.known, union.places, strict=True)
        ]
        return _reciprocal(union, one_each(self.eta, len(union.names), "eta"), np.stack(rows), self.missing)


def _reciprocal(union: Union, etas: F64, ranks: F64 | I32, missing: Missing) -> F64:
    """1 / (eta + rank); a document that a source does not score is ranked after its last, or counts 0."""
    if missing is Missing.ZERO:
        return 1.0 / (etas[:, None] + ranks) * union.known
    after = union.per_candidate(union.sizes + 1.0) * ~union.known  # ranks are 0 there
    return 1.0 / (etas[:, None] + (ranks + after))


def check_eta(eta: float | Sequence[float]) -> None:
    """Refuse constants that are not positive."""
    if not (np.isfinite(np.atleast_1d(eta)) & (np.atleast_1d(eta) > 0)).all():
        raise ConfigError(f"eta must be positive, got {eta}; 60 is the usual value")
