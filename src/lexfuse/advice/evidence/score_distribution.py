"""How the scores of each source are distributed, raw and on the scale of a normaliser (FUSE Fig. 2).

Distributions that lie apart explain why equal weights may fail: the same number then means different things in two sources. FUSE
looks at the scores of all documents, which `lexfuse.advice.evidence.corpus_scores` gives as a union set; those of an ordinary
union set are what a fusion adds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.fusion.normalisation import Normaliser
from lexfuse.fusion.union import Union

BINS = 40
RAW = "raw"
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MIDDLE = (0.005, 0.995)


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """The histogram of one source's scores on one scale, and their quantiles."""

    source: str
    scale: str  # "raw" or the name of a normaliser
    edges: tuple[float, ...]  # of the bins, one more than there are bins
    shares: tuple[float, ...]  # of all scores, in each bin, the outermost with whatever lies beyond; they sum to 1
    quantiles: tuple[float, float, float, float, float]  # 5, 25, 50, 75 and 95 %


def score_distributions(union: Union, normalisers: Mapping[str, Normaliser]) -> tuple[ScoreDistribution, ...]:
    """The distribution of every source's true scores, raw and then on each scale by its name.

    Raw scores have separate bins for each source; on a normalised scale all sources share theirs, so that they can be
    laid over each other. Bins span all scores, or, where the middle 99 % take up less than half of that, these: the rest counts
    in the outermost bins. A source that knows no score at all has no distribution.

    >>> from lexfuse.fusion.normalisation import MinMax
    >>> union = union_of([Run.of("a", {"q": {"x": 4.0, "y": 2.0, "z": 0.0}})])
    >>> [(found.scale, found.quantiles[2], found.edges[-1]) for found in score_distributions(union, {"min-max": MinMax()})]
    [('raw', 2.0, 4.0), ('min-max', 0.5, 1.0)]
    """
    raw = _known({name: union.scores[source] for source, name in enumerate(union.names)})
    found = [_distribution(name, RAW, values, _edges(values)) for name, values in raw.items()]
    for scale, normaliser in normalisers.items():
        scaled = _known({name: normaliser.of(union, source) for source, name in enumerate(union.names)})
        if scaled:
            edges = _edges(np.concatenate(list(scaled.values())))
            found += [_distribution(name, scale, values, edges) for name, values in scaled.items()]
    return tuple(found)


def _known(rows: Mapping[str, F64]) -> dict[str, F64]:
    """The true scores of every source that has some."""
    known = {name: row[~np.isnan(row)] for name, row in rows.items()}
    return {name: values for name, values in known.items() if len(values)}


def _edges(values: F64) -> F64:
    """Bins of one width; a few far outliers, as BM25 and TF-IDF have them, would leave only two or three bins for all others."""
    low, high = np.quantile(values, _MIDDLE).tolist()
    if 2 * (high - low) > np.ptp(values) or low == high:
        low, high = float(values.min()), float(values.max())
    return np.histogram_bin_edges(values, BINS, (low, high))


def _distribution(source: str, scale: str, values: F64, edges: F64) -> ScoreDistribution:
    counts, _ = np.histogram(values.clip(edges[0], edges[-1]), edges)
    five, first, middle, third, most = np.quantile(values, _QUANTILES).tolist()
    shares = (counts / len(values)).tolist()
    return ScoreDistribution(source, scale, tuple(edges.tolist()), tuple(shares), (five, first, middle, third, most))
