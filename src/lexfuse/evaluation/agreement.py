"""Agreement between judges beyond chance: Cohen's kappa of two, Krippendorff's alpha of any number.

Both compare the disagreement observed with that of judges who give their grades at random in the same proportions: 1 is complete
agreement, 0 is chance. Kappa is Cohen's (1960), weighted as in Cohen (1968). Alpha is computed from the coincidences of grades as
in Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011); no judge must have judged everything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.data.judgements import ResultGrades
from lexfuse.errors import DataError

MOST_JUDGES = 12  # whose pairs are compared, those with the most judgements


class GradeDistance(StrEnum):
    """How far two grades are apart."""

    NOMINAL = "nominal"  # equal or not
    LINEAR = "linear"  # by their difference
    QUADRATIC = "quadratic"  # by its square; Krippendorff calls it interval
    ORDINAL = "ordinal"  # by the square of the number of judgements between them


@dataclass(frozen=True, slots=True)
class JudgePair:
    """How two judges agree on the results that both have judged; kappa is NaN where chance could not disagree."""

    first: str
    second: str
    results: int
    equal: float  # share of results with the same grade
    kappa: float
    weighted_kappa: float  # quadratic


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How judges agree; alpha (ordinal) is NaN where no result has two judges, or all grades are the same."""

    results: int  # with two judges or more
    alpha: float
    pairs: tuple[JudgePair, ...]


def cohen_kappa(first: Sequence[int], second: Sequence[int], distance: GradeDistance = GradeDistance.NOMINAL) -> float:
    """The kappa of two judges, from their grades of the same results in the same order.

    >>> round(cohen_kappa([0, 1, 2, 3], [0, 1, 3, 3], GradeDistance.QUADRATIC), 3)
    0.917
    """
    if len(first) != len(second):
        raise DataError(f"two judges must have graded the same results, got {len(first)} and {len(second)} grades")
    if distance is GradeDistance.ORDINAL:
        raise DataError("kappa has nominal, linear and quadratic weights; ordinal distances are for krippendorff_alpha")
    if not len(first):
        return math.nan
    grades, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, two = np.split(codes, 2)
    together = np.zeros((len(grades), len(grades)))
    np.add.at(together, (one, two), 1.0)
    by_chance = np.outer(together.sum(axis=1), together.sum(axis=0)) / len(first)
    return _beyond_chance(float((together * (apart := _distances(grades, distance))).sum()), float((by_chance * apart).sum()))


def krippendorff_alpha(units: Iterable[Sequence[int]], distance: GradeDistance = GradeDistance.ORDINAL) -> float:
    """The alpha of any number of judges, from the grades of every result; results with one grade do not count.

    >>> round(krippendorff_alpha([[0, 0], [1, 1], [2, 3], [3, 3], [1]]), 3)
    0.91
    """
    paired = [list(unit) for unit in units if len(unit) > 1]
    if not paired:
        return math.nan
    grades = np.unique(np.concatenate(paired))
    coincidences = np.zeros((len(grades), len(grades)))
    for unit in paired:
        counts = np.bincount(np.searchsorted(grades, unit), minlength=len(grades)).astype(np.float64)
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidences.sum(axis=0)
    apart = _distances(grades, distance, totals)
    expected = float((np.outer(totals, totals) * apart).sum()) / (float(totals.sum()) - 1)
    return _beyond_chance(float((coincidences * apart).sum()), expected)


def agreement_of(grades: ResultGrades) -> JudgeAgreement:
    """The agreement of all judges, and of each pair of those with the most judgements.

    >>> found = agreement_of({("q", "a"): {"Zoé": 2, "Max": 2}, ("q", "b"): {"Zoé": 0, "Max": 1}, ("q", "c"): {"Zoé": 3}})
    >>> found.results, [(pair.first, pair.second, pair.results, pair.equal) for pair in found.pairs]
    (2, [('Max', 'Zoé', 2, 0.5)])
    """
    shared = [by_judge for by_judge in grades.values() if len(by_judge) > 1]
    counts = Counter(judge for by_judge in grades.values() for judge in by_judge)
    most = sorted(sorted(counts), key=lambda judge: -counts[judge])[:MOST_JUDGES]
    found = (_pair(one, two, shared) for one, two in combinations(sorted(most), 2))
    alpha = krippendorff_alpha(list(by_judge.values()) for by_judge in shared)
    return JudgeAgreement(len(shared), alpha, tuple(pair for pair in found if pair.results))


def _pair(one: str, two: str, shared: Sequence[dict[str, int]]) -> JudgePair:
    both = [(by_judge[one], by_judge[two]) for by_judge in shared if one in by_judge and two in by_judge]
    first, second = [grade for grade, _ in both], [grade for _, grade in both]
    equal = sum(a == b for a, b in both) / len(both) if both else math.nan
    kappa = cohen_kappa(first, second), cohen_kappa(first, second, GradeDistance.QUADRATIC)
    return JudgePair(one, two, len(both), equal, *kappa)


def _distances(grades: F64, distance: GradeDistance, totals: F64 | None = None) -> F64:
    difference = np.abs(grades[:, None] - grades[None, :]).astype(np.float64)
    if distance is GradeDistance.NOMINAL:
        return (difference > 0).astype(np.float64)
    if distance is GradeDistance.LINEAR:
        return difference
    if distance is GradeDistance.ORDINAL and totals is not None:
        middle = np.cumsum(totals) - totals / 2  # the place of a grade among all judgements
        difference = np.abs(middle[:, None] - middle[None, :])
    return difference**2


def _beyond_chance(observed: float, expected: float) -> float:
    return 1.0 - observed / expected if expected > 0 else math.nan
