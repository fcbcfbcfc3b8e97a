"""Whether a source favours long documents (RPRS 7.5, Table 8 and Fig. 3).

RPRS correlates the length of candidates with their score. Scores of different queries are not comparable, and pooling them
would mix the lengths of queries into it; so the correlation is taken inside every ranking, and then the mean over queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F64, I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.significance import paired_test
from lexfuse.evaluation.significance_options import PairedTest

TOP = 10
BINS = 10  # of length, with about equally many documents
_FEWEST = 3  # two points always lie on a line


@dataclass(frozen=True, slots=True)
class LengthBin:
    """Documents of similar length: how often they are retrieved and relevant, per document and relative to all lengths.

    1 is the rate of all documents: a source without a bias retrieves documents of each length as often as they are relevant.
    """

    words: float  # median length
    documents: int
    retrieved: float  # among the first 10 of every query
    relevant: float


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How the scores of a source go with the lengths of documents, in words."""

    source: str
    pearson: float  # mean over queries; NaN where no query has a correlation
    p: float  # of a two-sided t-test over queries that the mean is 0; NaN for fewer than two
    mean_length_top: float  # of the first 10 of every query
    mean_length_all: float  # of all documents
    mean_length_relevant: float  # of the documents judged relevant, each as often as it is; NaN without any
    queries: int = 0  # that have a correlation
    bins: tuple[LengthBin, ...] = ()  # P(retrieved | length) and P(relevant | length) of RPRS Fig. 3; short documents first


def length_bias(name: str, run: Run, lengths: I64, qrels: Qrels, *, cutoff: int = 100) -> LengthBias:
    """The correlation of score and length in the first `cutoff` of every ranking, with mean lengths to compare.

    `lengths` are those of `run.docs`, which should be all documents of the collection. A ranking of fewer than three documents,
    of equal scores or of equal lengths has no correlation, and is left out of the mean.

    >>> run = Run.of("bm25", {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> bias = length_bias("bm25", run, np.array([90, 60, 30]), Qrels.of([("q", "b", 1)]))
    >>> round(bias.pearson, 6), bias.mean_length_all, bias.mean_length_relevant
    (1.0, 60.0, 60.0)
    """
    if len(lengths) != len(run.docs):
        raise ConfigError(f"run {run.name!r} knows {len(run.docs)} documents, got {len(lengths)} lengths; give one for each")
    if cutoff < _FEWEST:
        raise ConfigError(f"cutoff must be at least {_FEWEST}, got {cutoff}")
    correlations = _correlations(run, lengths, cutoff)
    top, relevant = lengths[_first(run, TOP)], _relevant_lengths(run, lengths, qrels)
    return LengthBias(
        source=name,
        pearson=_mean(correlations),
        p=paired_test(PairedTest.T, correlations, np.zeros_like(correlations)).p if len(correlations) > 1 else math.nan,
        mean_length_top=_mean(top),
        mean_length_all=_mean(lengths),
        mean_length_relevant=_mean(relevant),
        queries=len(correlations),
        bins=length_bins(lengths, top, relevant),
    )


def length_bins(lengths: I64, retrieved: I64, relevant: I64, count: int = BINS) -> tuple[LengthBin, ...]:
    """Rates of retrieval and relevance by length; documents of one length are in one bin, so there may be fewer bins.

    >>> short, long = length_bins(np.array([1, 2, 8, 9]), np.array([8, 9, 9, 1]), np.array([1, 8]), 2)
    >>> (short.words, short.retrieved, short.relevant), (long.words, long.retrieved, long.relevant)
    ((1.5, 0.5, 1.0), (8.5, 1.5, 1.0))
    """
    if not (len(lengths) and len(retrieved) and len(relevant)):
        return ()
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, count + 1)[1:-1]))
    place = np.searchsorted(edges, lengths)
    size = len(edges) + 1
    documents = np.bincount(place, minlength=size)
    rates = [
        np.bincount(np.searchsorted(edges, found), minlength=size) / len(found) / (np.maximum(documents, 1) / len(lengths))
        for found in (retrieved, relevant)
    ]
    return tuple(
        LengthBin(float(np.median(lengths[place == at])), int(documents[at]), float(rates[0][at]), float(rates[1][at]))
        for at in range(size)
        if documents[at]
    )


def pearson(first: F64, second: F64) -> float:
    """Pearson's product-moment correlation; NaN where one of the two has no spread.

    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0])), 4)
    0.982
    """
    if len(first) < 2 or np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return math.nan
    a, b = first - first.mean(), second - second.mean()
    return float(a @ b / math.sqrt(float(a @ a) * float(b @ b)))


def _correlations(run: Run, lengths: I64, cutoff: int) -> F64:
    found = []
    for start, stop in zip(run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True):
        best = slice(start, min(stop, start + cutoff))
        if stop - start >= _FEWEST:
            found.append(pearson(run.score[best].astype(np.float64), lengths[run.doc[best]].astype(np.float64)))
    correlations = np.array(found, dtype=np.float64)
    return correlations[~np.isnan(correlations)]


def _first(run: Run, count: int) -> I64:
    """The documents on the first ranks of all queries."""
    rank = np.arange(len(run)) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
    return run.doc[rank < count].astype(np.int64)


def _relevant_lengths(run: Run, lengths: I64, qrels: Qrels) -> I64:
    """Lengths of what is relevant to a query of the run, as far as the run knows the documents."""
    asked = np.repeat(run.queries.ordinals(qrels.queries) >= 0, np.diff(qrels.offsets))
    doc = run.docs.ordinals(qrels.docs)[qrels.doc]
    return lengths[doc[asked & (qrels.grade > 0) & (doc >= 0)]]


def _mean(values: F64 | I64) -> float:
    return float(values.mean()) if len(values) else math.nan
