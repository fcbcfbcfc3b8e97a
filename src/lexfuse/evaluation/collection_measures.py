"""Measures of a whole run: counts are summed over queries before dividing.

The micro-averaged three are those that COLIEE reports. MPR is the mean percentile rank of SDR (Ginzburg et al. 2021), which RPRS
reports in its Table 6.
"""

from __future__ import annotations

import math

import numpy as np

from lexfuse.evaluation.measure import CollectionMeasure, CutoffRule
from lexfuse.evaluation.relevance_table import RelevanceTable


class MeanPercentileRank(CollectionMeasure):
    """MPR: mean of 1 - (rank - 1) / N over all pairs of a query and a relevant document that the run ranks.

    This is what SDR's program computes, which prints (rank - 1) / N, where lower is better; the papers print the form here. A
    pair counts as often as its grade says, as in that program. A relevant document that is not ranked is left out, so the
    measure is meant for runs that rank the whole collection; `Evaluation.notes` says how many were left out. A run that
    ranks no relevant document at all gives 0. `MacroPercentileRank` counts unranked documents as 0, query by query.
    """

    __slots__ = ()
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

    __slots__ = ()
    name = "microP"

    def value(self, aligned: RelevanceTable) -> float:
        """Precision of the run as one set of answers; 0 if it returns nothing."""
        found, returned, _ = _sums(self, aligned)
        return found / returned if returned else 0.0


class MicroRecall(CollectionMeasure):
    """microR@k: relevant documents in the first k of all queries / relevant documents of all queries."""

    __slots__ = ()
    name = "microR"

    def value(self, aligned: RelevanceTable) -> float:
        """Recall of the run as one set of answers; 0 if no document reaches the grade."""
        found, _, relevant = _sums(self, aligned)
        return found / relevant if relevant else 0.0


class MicroF1(CollectionMeasure):
    """microF1@k, the official measure of COLIEE: harmonic mean of microP@k and microR@k."""

    __slots__ = ()
    name = "microF1"

    def value(self, aligned: RelevanceTable) -> float:
        """F1 of the run as one set of answers: 2 · found / (returned + relevant)."""
        found, returned, relevant = _sums(self, aligned)
        return 2.0 * found / (returned + relevant) if found else 0.0


def _sums(measure: CollectionMeasure, aligned: RelevanceTable) -> tuple[int, int, int]:
    """Over all queries: relevant documents found, documents returned, relevant documents there are."""
    returned = aligned.returned if measure.cutoff is None else np.minimum(aligned.returned, measure.cutoff)
    return int(aligned.found(measure.cutoff, measure.rel).sum()), int(returned.sum()), int(aligned.relevant(measure.rel).sum())
