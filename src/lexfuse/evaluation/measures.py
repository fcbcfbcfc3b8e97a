"""The measures, as formulas over the table of relevant hits; the definitions are those of trec_eval.

F1@k is the harmonic mean of P@k and R@k. macroMPR averages the mean percentile rank of SDR (Ginzburg et al. 2021) over queries.
The last four sum counts over all queries before they divide: the micro-averaged three are those that COLIEE reports, and MPR is
the mean percentile rank that RPRS reports in its Table 6.
"""

from __future__ import annotations

import math

import numpy as np

from lexfuse.data.arrays import F64, I64
from lexfuse.evaluation.measure import CollectionMeasure, CutoffRule, QueryMeasure
from lexfuse.evaluation.relevance_table import RelevanceTable


class Recall(QueryMeasure):
    """R@k: relevant documents in the first k / all relevant documents."""

    name = "R"

    def values(self, aligned: RelevanceTable) -> F64:
        """Recall of every query; 0 where no document reaches the grade."""
        return _over(aligned.found(self.cutoff, self.rel), aligned.relevant(self.rel))


class Precision(QueryMeasure):
    """P@k: relevant documents in the first k / k, also where the ranking is shorter than k."""

    name = "P"

    def values(self, aligned: RelevanceTable) -> F64:
        """Precision of every query."""
        return aligned.found(self.cutoff, self.rel) / float(self.cutoff or 1)


class F1(QueryMeasure):
    """F1@k: harmonic mean of P@k and R@k of the query, which is 2 · found / (k + relevant)."""

    name = "F1"

    def values(self, aligned: RelevanceTable) -> F64:
        """F1 of every query."""
        return 2.0 * aligned.found(self.cutoff, self.rel) / ((self.cutoff or 1) + aligned.relevant(self.rel))


class AveragePrecision(QueryMeasure):
    """AP@k: sum of the precision at each relevant document in the first k / all relevant documents."""

    name = "AP"
    takes = CutoffRule.OPTIONAL_CUTOFF

    def values(self, aligned: RelevanceTable) -> F64:
        """Average precision of every query."""
        query, rank, _ = aligned.hits(self.cutoff, self.rel)
        precision = _position(query, len(aligned.queries)) / rank
        return _over(_sum(precision, query, aligned), aligned.relevant(self.rel))


class MeanReciprocalRank(QueryMeasure):
    """RR@k: 1 / rank of the first relevant document; 0 if none is in the first k."""

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
    """

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
    """Rprec: relevant documents in the first R ranks / R, where R is the number of relevant documents of the query."""

    name = "Rprec"
    takes = CutoffRule.NO_CUTOFF

    def values(self, aligned: RelevanceTable) -> F64:
        """R-precision of every query; 0 where no document reaches the grade."""
        query, rank, _ = aligned.hits(rel=self.rel)
        relevant = aligned.relevant(self.rel)
        found = np.bincount(query[rank <= relevant[query]], minlength=len(relevant))
        return _over(found, relevant)


class Success(QueryMeasure):
    """Success@k: 1 if any relevant document is in the first k, else 0."""

    name = "Success"

    def values(self, aligned: RelevanceTable) -> F64:
        """Success of every query."""
        return (aligned.found(self.cutoff, self.rel) > 0).astype(np.float64)


class MacroPercentileRank(QueryMeasure):
    """macroMPR: mean over the relevant documents of a query of 1 - (rank - 1) / N; N is the length of its ranking.

    The first rank gives 1, the last 1/N, and a relevant document that is not ranked gives 0. Queries weigh the same and paired
    tests apply; `MeanPercentileRank` is the form that SDR and RPRS report.
    """

    name = "macroMPR"
    takes = CutoffRule.NO_CUTOFF

    def values(self, aligned: RelevanceTable) -> F64:
        """Mean percentile rank of every query; 0 where no document reaches the grade."""
        query, rank, _ = aligned.hits(rel=self.rel)
        return _over(_sum(aligned.percentile(query, rank), query, aligned), aligned.relevant(self.rel))


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


class MeanPercentileRank(CollectionMeasure):
    """MPR: mean of 1 - (rank - 1) / N over all pairs of a query and a relevant document that the run ranks.

    This is what SDR's program computes, which prints (rank - 1) / N, where lower is better; the papers print the form here. A
    pair counts as often as its grade says, as in that program. A relevant document that is not ranked is left out, so the
    measure is meant for runs that rank the whole collection; `Evaluation.notes` says how many were left out. A run that
    ranks no relevant document at all gives 0. `MacroPercentileRank` counts unranked documents as 0, query by query.
    """

    name = "MPR"
    takes = CutoffRule.NO_CUTOFF

    def value(self, aligned: RelevanceTable) -> float:
        """Mean percentile rank of all ranked pairs, each weighted by its grade."""
        query, rank, grade = aligned.hits(rel=self.rel)
        weighted = math.fsum((aligned.percentile(query, rank) * grade).tolist())  # exact, whatever the order of queries
        return weighted / int(grade.sum()) if len(grade) else 0.0

    def left_out(self, aligned: RelevanceTable) -> int:
        """How many relevant documents the run does not rank."""
        return int(aligned.relevant(self.rel).sum()) - len(aligned.hits(rel=self.rel)[0])


class MicroPrecision(CollectionMeasure):
    """microP@k: relevant documents in the first k of all queries / documents actually returned there."""

    name = "microP"

    def value(self, aligned: RelevanceTable) -> float:
        """Precision of the run as one set of answers; 0 if it returns nothing."""
        found, returned, _ = _sums(self, aligned)
        return found / returned if returned else 0.0


class MicroRecall(CollectionMeasure):
    """microR@k: relevant documents in the first k of all queries / relevant documents of all queries."""

    name = "microR"

    def value(self, aligned: RelevanceTable) -> float:
        """Recall of the run as one set of answers; 0 if no document reaches the grade."""
        found, _, relevant = _sums(self, aligned)
        return found / relevant if relevant else 0.0


class MicroF1(CollectionMeasure):
    """microF1@k, the official measure of COLIEE: harmonic mean of microP@k and microR@k."""

    name = "microF1"

    def value(self, aligned: RelevanceTable) -> float:
        """F1 of the run as one set of answers: 2 · found / (returned + relevant)."""
        found, returned, relevant = _sums(self, aligned)
        return 2.0 * found / (returned + relevant) if found else 0.0


def _sums(measure: CollectionMeasure, aligned: RelevanceTable) -> tuple[int, int, int]:
    """Over all queries: relevant documents found, documents returned, relevant documents there are."""
    returned = aligned.returned if measure.cutoff is None else np.minimum(aligned.returned, measure.cutoff)
    return int(aligned.found(measure.cutoff, measure.rel).sum()), int(returned.sum()), int(aligned.relevant(measure.rel).sum())
