"""Measures as values: what each one is, written as a formula over the table of relevant hits.

The spelling is that of ir_measures (``nDCG@10``, ``P(rel=2)@5``) and the definitions are those of trec_eval; `spelling` reads
them from text. F1@k is the harmonic mean of P@k and R@k. The micro-averaged three are those that COLIEE reports. MPR is the
mean percentile rank of SDR (Ginzburg et al. 2021), which RPRS reports in its Table 6; macroMPR is its average over queries.

Two kinds, told apart by type: a `QueryMeasure` has one value per query and is averaged; a `CollectionMeasure` sums over all
queries first, so it has one value and no value per query, and no paired test applies to it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from lexfuse.data.arrays import F64, I64
from lexfuse.errors import ConfigError
from lexfuse.evaluation.relevance_table import RelevanceTable


class CutoffRule(Enum):
    """Whether a measure takes a cutoff.

    >>> Precision.takes
    <CutoffRule.CUTOFF: 'a cutoff'>
    """

    CUTOFF = "a cutoff"
    OPTIONAL_CUTOFF = "an optional cutoff"
    NO_CUTOFF = "no cutoff"


@dataclass(frozen=True, slots=True, repr=False)
class Measure(ABC):
    """A measure with its cutoff and the lowest grade that counts as relevant.

    Equal when name, cutoff and grade are; the text form reads back to an equal value.

    >>> Precision(5, rel=2)
    P(rel=2)@5
    """

    cutoff: int | None = None
    rel: int = 1

    name: ClassVar[str]
    takes: ClassVar[CutoffRule] = CutoffRule.CUTOFF
    graded: ClassVar[bool] = False  # grades are gains; no threshold makes sense

    def __post_init__(self) -> None:
        """Refuse a cutoff or grade that cannot be."""
        if self.cutoff is None and self.takes is CutoffRule.CUTOFF:
            raise ConfigError(f"{self.name} needs a cutoff; write for example {self.name}@10")
        if self.cutoff is not None and self.takes is CutoffRule.NO_CUTOFF:
            raise ConfigError(f"{self.name} takes no cutoff, got @{self.cutoff}; write {self.name}")
        if self.cutoff is not None and self.cutoff < 1:
            raise ConfigError(f"the cutoff of {self.name} must be at least 1, got {self.cutoff}")
        if self.rel != 1 and self.graded:
            raise ConfigError(f"{self.name} uses every grade and takes no rel, got rel={self.rel}")
        if self.rel < 1:
            raise ConfigError(f"rel, the lowest relevant grade, must be at least 1, got {self.rel}")

    def __repr__(self) -> str:
        """The ir_measures spelling."""
        level = "" if self.rel == 1 else f"(rel={self.rel})"
        return f"{self.name}{level}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    __str__ = __repr__


class QueryMeasure(Measure):
    """A measure with one value per query; a run's value is their mean.

    >>> isinstance(Recall(100), QueryMeasure)
    True
    """

    __slots__ = ()

    @abstractmethod
    def values(self, aligned: RelevanceTable) -> F64:
        """One value per evaluated query, in the order of `RelevanceTable.queries`."""


class CollectionMeasure(Measure):
    """A measure of a whole run: counts are summed over queries before dividing, so no query has a value of its own.

    >>> isinstance(MicroF1(5), CollectionMeasure)
    True
    """

    __slots__ = ()
    takes = CutoffRule.OPTIONAL_CUTOFF

    @abstractmethod
    def value(self, aligned: RelevanceTable) -> float:
        """The one value of the run."""


class Recall(QueryMeasure):
    """R@k: relevant documents in the first k / all relevant documents.

    >>> Recall(100)
    R@100
    """

    __slots__ = ()
    name = "R"

    def values(self, aligned: RelevanceTable) -> F64:
        """Recall of every query; 0 where no document reaches the grade."""
        return _over(_found(self, aligned), aligned.relevant(self.rel))


class Precision(QueryMeasure):
    """P@k: relevant documents in the first k / k, also where the ranking is shorter than k.

    >>> Precision(5)
    P@5
    """

    __slots__ = ()
    name = "P"

    def values(self, aligned: RelevanceTable) -> F64:
        """Precision of every query."""
        return _found(self, aligned) / float(self.cutoff or 1)


class F1(QueryMeasure):
    """F1@k: harmonic mean of P@k and R@k of the query, which is 2 · found / (k + relevant).

    >>> F1(5)
    F1@5
    """

    __slots__ = ()
    name = "F1"

    def values(self, aligned: RelevanceTable) -> F64:
        """F1 of every query."""
        return 2.0 * _found(self, aligned) / ((self.cutoff or 1) + aligned.relevant(self.rel))


class AveragePrecision(QueryMeasure):
    """AP@k: sum of the precision at each relevant document in the first k / all relevant documents.

    >>> AveragePrecision(100), AveragePrecision()
    (AP@100, AP)
    """

    __slots__ = ()
    name = "AP"
    takes = CutoffRule.OPTIONAL_CUTOFF

    def values(self, aligned: RelevanceTable) -> F64:
        """Average precision of every query."""
        query, rank, _ = aligned.hits(self.cutoff, self.rel)
        precision = _position(query, len(aligned.queries)) / rank
        return _over(_sum(precision, query, aligned), aligned.relevant(self.rel))


class MeanReciprocalRank(QueryMeasure):
    """RR@k: 1 / rank of the first relevant document; 0 if none is in the first k.

    >>> MeanReciprocalRank(10)
    RR@10
    """

    __slots__ = ()
    name = "RR"
    takes = CutoffRule.OPTIONAL_CUTOFF

    def values(self, aligned: RelevanceTable) -> F64:
        """Reciprocal rank of every query."""
        query, rank, _ = aligned.hits(self.cutoff, self.rel)
        values = np.zeros(len(aligned.queries))
        first = np.flatnonzero(_position(query, len(values)) == 1)
        values[query[first]] = 1.0 / rank[first]
        return values


class NDCG(QueryMeasure):
    """nDCG@k: sum of grade / log2(rank + 1) over the first k, divided by the same sum of the best possible ranking.

    Gains are linear, as in trec_eval; the ideal ranking orders all judged documents of the query by grade.

    >>> NDCG(10)
    nDCG@10
    """

    __slots__ = ()
    name = "nDCG"
    takes = CutoffRule.OPTIONAL_CUTOFF
    graded = True

    def values(self, aligned: RelevanceTable) -> F64:
        """Normalised discounted cumulative gain of every query."""
        query, rank, grade = aligned.hits(self.cutoff)
        return _over(_sum(grade / np.log2(rank + 1), query, aligned), self._ideal(aligned))

    def _ideal(self, aligned: RelevanceTable) -> F64:
        base = int(aligned.relevant_grade.max()) + 1
        best_first = np.sort(aligned.relevant_query * base + (base - 1 - aligned.relevant_grade))
        query, deficit = np.divmod(best_first, base)
        rank = _position(query, len(aligned.queries))
        within = slice(None) if self.cutoff is None else rank <= self.cutoff
        gain = (base - 1 - deficit) / np.log2(rank + 1)
        return _sum(gain[within], query[within], aligned)


class RPrecision(QueryMeasure):
    """Rprec: relevant documents in the first R ranks / R, where R is the number of relevant documents of the query.

    >>> RPrecision(rel=2)
    Rprec(rel=2)
    """

    __slots__ = ()
    name = "Rprec"
    takes = CutoffRule.NO_CUTOFF

    def values(self, aligned: RelevanceTable) -> F64:
        """R-precision of every query; 0 where no document reaches the grade."""
        query, rank, _ = aligned.hits(rel=self.rel)
        relevant = aligned.relevant(self.rel)
        found = np.bincount(query[rank <= relevant[query]], minlength=len(relevant))
        return _over(found, relevant)


class Success(QueryMeasure):
    """Success@k: 1 if any relevant document is in the first k, else 0.

    >>> Success(5)
    Success@5
    """

    __slots__ = ()
    name = "Success"

    def values(self, aligned: RelevanceTable) -> F64:
        """Success of every query."""
        return (_found(self, aligned) > 0).astype(np.float64)


class MacroPercentileRank(QueryMeasure):
    """macroMPR: mean over the relevant documents of a query of 1 - (rank - 1) / N; N is the length of its ranking.

    The first rank gives 1, the last 1/N, and a relevant document that is not ranked gives 0. Queries weigh the same and paired
    tests apply; `MeanPercentileRank` is the form that SDR and RPRS report.

    >>> MacroPercentileRank()
    macroMPR
    """

    __slots__ = ()
    name = "macroMPR"
    takes = CutoffRule.NO_CUTOFF

    def values(self, aligned: RelevanceTable) -> F64:
        """Mean percentile rank of every query; 0 where no document reaches the grade."""
        query, rank, _ = aligned.hits(rel=self.rel)
        return _over(_sum(_percentile(query, rank, aligned), query, aligned), aligned.relevant(self.rel))


class MeanPercentileRank(CollectionMeasure):
    """MPR: mean of 1 - (rank - 1) / N over all pairs of a query and a relevant document that the run ranks.

    This is what SDR's program computes, which prints (rank - 1) / N, where lower is better; the papers print the form here. A
    pair counts as often as its grade says, as in that program. A relevant document that is not ranked is left out, so the
    measure is meant for runs that rank the whole collection; `Evaluation.notes` says how many were left out. A run that
    ranks no relevant document at all gives 0. `MacroPercentileRank` counts unranked documents as 0, query by query.

    >>> MeanPercentileRank()
    MPR
    """

    __slots__ = ()
    name = "MPR"
    takes = CutoffRule.NO_CUTOFF

    def value(self, aligned: RelevanceTable) -> float:
        """Mean percentile rank of all ranked pairs, each weighted by its grade."""
        query, rank, grade = aligned.hits(rel=self.rel)
        weighted = math.fsum((_percentile(query, rank, aligned) * grade).tolist())  # exact, whatever the order of queries
        return weighted / int(grade.sum()) if len(grade) else 0.0

    def left_out(self, aligned: RelevanceTable) -> int:
        """How many relevant documents the run does not rank."""
        return int(aligned.relevant(self.rel).sum()) - len(aligned.hits(rel=self.rel)[0])


class MicroPrecision(CollectionMeasure):
    """microP@k: relevant documents in the first k of all queries / documents actually returned there.

    >>> MicroPrecision(5)
    microP@5
    """

    __slots__ = ()
    name = "microP"

    def value(self, aligned: RelevanceTable) -> float:
        """Precision of the run as one set of answers; 0 if it returns nothing."""
        found, returned, _ = _sums(self, aligned)
        return found / returned if returned else 0.0


class MicroRecall(CollectionMeasure):
    """microR@k: relevant documents in the first k of all queries / relevant documents of all queries.

    >>> MicroRecall(5)
    microR@5
    """

    __slots__ = ()
    name = "microR"

    def value(self, aligned: RelevanceTable) -> float:
        """Recall of the run as one set of answers; 0 if no document reaches the grade."""
        found, _, relevant = _sums(self, aligned)
        return found / relevant if relevant else 0.0


class MicroF1(CollectionMeasure):
    """microF1@k, the official measure of COLIEE: harmonic mean of microP@k and microR@k.

    >>> MicroF1(5)
    microF1@5
    """

    __slots__ = ()
    name = "microF1"

    def value(self, aligned: RelevanceTable) -> float:
        """F1 of the run as one set of answers: 2 · found / (returned + relevant)."""
        found, returned, relevant = _sums(self, aligned)
        return 2.0 * found / (returned + relevant) if found else 0.0


def _found(measure: Measure, aligned: RelevanceTable) -> I64:
    """Per query, how many relevant documents are within the cutoff."""
    return np.bincount(aligned.hits(measure.cutoff, measure.rel)[0], minlength=len(aligned.queries))


def _sums(measure: Measure, aligned: RelevanceTable) -> tuple[int, int, int]:
    """Over all queries: relevant documents found, documents returned, relevant documents there are."""
    returned = aligned.returned if measure.cutoff is None else np.minimum(aligned.returned, measure.cutoff)
    return int(_found(measure, aligned).sum()), int(returned.sum()), int(aligned.relevant(measure.rel).sum())


def _percentile(query: I64, rank: I64, aligned: RelevanceTable) -> F64:
    """Per ranked relevant document, the share of its ranking that does not come before it."""
    return 1.0 - (rank - 1) / aligned.returned[query]


def _sum(weight: F64, query: I64, aligned: RelevanceTable) -> F64:
    """Per query, the sum of the weights of its rows, taken in their order."""
    return np.bincount(query, weights=weight, minlength=len(aligned.queries)).astype(np.float64, copy=False)


def _position(query: I64, queries: int) -> I64:
    """Position from 1 of each row among the rows of its query; rows come grouped by query."""
    count = np.bincount(query, minlength=queries)
    return np.arange(1, len(query) + 1) - (np.cumsum(count) - count)[query]


def _over(numerator: F64 | I64, denominator: F64 | I64) -> F64:
    """The quotient, 0 where the denominator is 0 (no document reaches the grade)."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
