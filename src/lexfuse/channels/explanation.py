"""Explanation of a fused score: what each source contributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SourceContribution:
    """What one source adds to a fused score.

    >>> SourceContribution("bm25", 12.3, 1, 0.9, False, 0.2, 0.18).contribution
    0.18
    """

    source: str
    score: float | None  # the raw score; None where the source does not know it
    rank: int | None  # among the candidates, from 1
    value: float  # normalised score, reciprocal rank, points …
    imputed: bool  # whether the value stands for a score that the source did not give
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The fused score and rank of one document for one query, with what every source adds.

    >>> Explanation("q", "d", 0.5, 3, True, ()).listed
    True
    """

    query: str
    doc: str
    score: float
    rank: int  # among the candidates, or where it would stand
    listed: bool  # whether some source lists it
    parts: tuple[SourceContribution, ...]
    others: Mapping[str, int] = field(default_factory=dict)  # its rank under other fusions, by their names
    before: Explanation | None = None  # why it stood where it stood before it was reranked
