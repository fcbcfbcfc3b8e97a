"""Whether two sources know different things: their scores of the same pairs, and what only one of them finds (FUSE Fig. 3, 6).

The analysis uses min-max scaled scores of pairs of query and document: every relevant document, and for every query as many
that are not relevant, drawn at random. Where the scores of all documents are given (`lexfuse.advice.evidence.corpus_scores`),
scaling, quartiles and draws are over all of them, as in FUSE. Otherwise they are over the candidates: negatives are then
documents that some source lists, and relevant documents that no source lists are not analysed. Where a source did not list a
pair, its true score is computed; rankings read from files have no retriever, and there the lowest score of the query counts,
which is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lexfuse.advice.evidence.length_bias import pearson
from lexfuse.data.arrays import F64, I64, Bools
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError, DataError
from lexfuse.fusion.normalisation import MinMax, imputed
from lexfuse.fusion.union import Missing, Union

POINTS = 2000  # as many as a picture can show
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Region:
    """One corner of the plane of two sources' scores, and how many of its pairs are relevant."""

    name: str  # "A" to "D"
    words: str
    pairs: int
    relevant: int


@dataclass(frozen=True, slots=True)
class Complementarity:
    """What two sources say about the same pairs of query and document."""

    first: str
    second: str
    quartiles: tuple[tuple[float, float], tuple[float, float]]  # first and third, of all scores of each source
    regions: tuple[Region, ...]  # over all sampled pairs
    points: tuple[tuple[float, float, bool], ...]  # scores of the first and second source, and whether relevant
    correlation: float  # Pearson, over all sampled pairs; NaN where one source has no spread
    only_first: int  # relevant documents that only the first has among its best
    only_second: int
    both: int
    neither: int


def complementarity(
    union: Union, qrels: Qrels, *, every: Union | None = None, cutoff: int = 100, seed: int = 0
) -> tuple[Complementarity, ...]:
    """Every pair of sources, compared on the judged queries of a union set.

    `every` has the scores of all documents, for all queries or some of them; without it, all scores are those of the candidates.
    High is at least the third quartile of all scores of a source, low at most the first, and low goes first where both hold.
    Found means among the best `cutoff` of the source's own list. Not more than 2,000 points are kept, half of them relevant;
    regions and correlation are over all pairs.

    >>> union = union_of([Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0, "z": 5.0}})])
    >>> found = complementarity(union, Qrels.of([("q", "x", 1), ("q", "z", 1), ("q", "w", 1)]), cutoff=1)[0]
    >>> found.only_first, found.only_second, found.both, found.neither
    (1, 0, 0, 2)
    """
    if cutoff < 1:
        raise ConfigError(f"cutoff must be at least 1, got {cutoff}")
    scored = union if every is None else every
    sample = _Sample.of(scored, qrels, seed)
    scaled = [MinMax().of(scored, source) for source in range(len(scored.names))]
    quartiles = [_quartiles(row) for row in scaled]
    values = [imputed(scored, source, row, Missing.MIN)[sample.pairs] for source, row in enumerate(scaled)]
    judged, relevant = _judged(union, qrels)
    found = [((places > 0) & (places <= cutoff))[relevant] for places in union.places]

    def compared(one: int, two: int) -> Complementarity:
        first, second, a, b = values[one], values[two], found[one], found[two]
        either = int((a | b).sum())
        return Complementarity(
            first=union.names[one],
            second=union.names[two],
            quartiles=(quartiles[one], quartiles[two]),
            regions=tuple(_regions(union.names[one], union.names[two], first, second, quartiles[one], quartiles[two], sample)),
            points=tuple(_points(first, second, sample)),
            correlation=pearson(first, second),
            only_first=int((a & ~b).sum()),
            only_second=int((b & ~a).sum()),
            both=int((a & b).sum()),
            neither=judged - either,
        )

    return tuple(compared(one, two) for one, two in combinations(range(len(union.names)), 2))


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """The candidates of the analysis: the relevant ones and as many others, query by query."""

    pairs: I64  # candidates, rising
    is_relevant: Bools  # of every pair
    shown: I64  # positions among the pairs

    @classmethod
    def of(cls, union: Union, qrels: Qrels, seed: int) -> _Sample:
        judged, positive = _judged(union, qrels)
        if not judged:
            raise DataError(f"none of the {len(union.queries)} queries has a relevant document (grade 1 or more) in the qrels")
        draw = np.random.default_rng(seed).random(len(union))
        wanted = union.per_query(np.add, positive.astype(np.float64))
        order = np.lexsort((draw, positive, union.query))  # in every query the others at random, then the relevant ones
        place = np.arange(len(union)) - np.repeat(union.offsets[:-1], np.diff(union.offsets))
        negative = np.zeros(len(union), dtype=np.bool_)
        negative[order] = place < union.per_candidate(wanted)
        pairs = np.flatnonzero(positive | negative)  # with too few others, relevant ones are drawn again, which changes nothing
        is_relevant = positive[pairs]
        halves = [np.flatnonzero(is_relevant == side) for side in (True, False)]
        shown = np.concatenate([half[np.argsort(draw[pairs[half]])][: POINTS // 2] for half in halves])
        return cls(pairs, is_relevant, np.sort(shown))


def _judged(union: Union, qrels: Qrels) -> tuple[int, Bools]:
    """How many relevant documents the queries of the union set have, and which candidates they are."""
    query = np.repeat(union.queries.ordinals(qrels.queries), np.diff(qrels.offsets)).astype(np.int64)
    doc = union.docs.ordinals(qrels.docs)[qrels.doc]
    asked = (query >= 0) & (qrels.grade > 0)
    known = asked & (doc >= 0)
    width = max(len(union.docs), 1)
    return int(asked.sum()), np.isin(union.query * width + union.doc, query[known] * width + doc[known])


def _quartiles(scaled: F64) -> tuple[float, float]:
    known = scaled[~np.isnan(scaled)]
    if not len(known):
        return 0.0, 0.0  # a source that knows nothing gives 0 to everything
    first, third = np.quantile(known, (0.25, 0.75)).tolist()
    return first, third


def _regions(
    one: str, two: str, first: F64, second: F64, of_first: tuple[float, float], of_second: tuple[float, float], sample: _Sample
) -> Iterator[Region]:
    low_first, low_second = first <= of_first[0], second <= of_second[0]
    high_first, high_second = (first >= of_first[1]) & ~low_first, (second >= of_second[1]) & ~low_second
    corners = [
        ("A", f"{one} high, {two} low", high_first & low_second),
        ("B", f"{one} low, {two} high", low_first & high_second),
        ("C", "both high", high_first & high_second),
        ("D", "both low", low_first & low_second),
    ]
    for name, words, inside in corners:
        yield Region(name, words, int(inside.sum()), int((inside & sample.is_relevant).sum()))


def _points(first: F64, second: F64, sample: _Sample) -> Iterator[tuple[float, float, bool]]:
    columns = (first[sample.shown].round(_DECIMALS), second[sample.shown].round(_DECIMALS), sample.is_relevant[sample.shown])
    yield from zip(*(column.tolist() for column in columns), strict=True)
