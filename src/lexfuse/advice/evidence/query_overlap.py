"""Which queries one source answers and another does not, and how much of the text they share with what they look for (CJEU 5.2).

Queries are put into groups by what the two sources reach: CJEU contrasts recall 1 with recall 0 (`Contrast.EXTREMES`); any
higher value is there by name. The groups are compared by the metrics of `lexfuse.advice.evidence.verbatim_overlap` with
two-sided t-tests. CJEU does not say of which kind; here it is Welch's, which does not take groups of different size to vary
alike. p-values are corrected (Holm) over the metrics of the same two groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from lexfuse.advice.evidence.verbatim_overlap import METRICS, NGRAMS, ngrams_in_common, shared_words
from lexfuse.advice.findings import Contrast
from lexfuse.data.arrays import F64, Bools
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.measure_names import parse_measure
from lexfuse.evaluation.significance import adjust_p_values
from lexfuse.evaluation.significance_options import Correction
from lexfuse.evaluation.student_t import t_tail

FIRST, SECOND, PERFECT, FAIL = "first wins", "second wins", "both perfect", "both fail"
FEWEST = 5  # queries that a group needs to be tested
LEVEL = 0.05
_COMPARED = ((FIRST, PERFECT), (SECOND, PERFECT), (FIRST, SECOND))


@dataclass(frozen=True, slots=True)
class OverlapGroup:
    """Queries of one fate, with mean and standard deviation (n - 1) of every metric; both empty where there is no query."""

    name: str  # "first wins", "second wins", "both perfect" or "both fail"
    queries: int
    means: Mapping[str, float]
    deviations: Mapping[str, float]  # 0 for a single query


@dataclass(frozen=True, slots=True)
class OverlapTest:
    """Two groups compared by one metric."""

    metric: str
    p: float  # corrected over the metrics
    statistic: float  # Welch's t
    difference: float  # mean of the first group minus mean of the second
    groups: tuple[str, str] = (FIRST, PERFECT)


@dataclass(frozen=True, slots=True)
class OverlapAnalysis:
    """The groups of queries of two sources, the tests between them, and what they say in words."""

    first: str
    second: str
    measure: str
    groups: tuple[OverlapGroup, ...]
    tests: tuple[OverlapTest, ...]
    words: tuple[str, ...]
    contrast: Contrast = Contrast.EXTREMES


def overlap(
    queries: Queries,
    qrels: Qrels,
    runs: tuple[Run, Run],
    text_of: Callable[[str], str],
    measure: str = "R@5",
    *,
    contrast: Contrast = Contrast.EXTREMES,
) -> OverlapAnalysis:
    """Group the judged queries by what two runs reach, and compare the groups by the words they share with relevant documents.

    One wins where it reaches 1 and the other 0, as in CJEU, or by `Contrast.HIGHER` where its value is higher. Both are perfect
    where both reach 1, both fail where both reach 0. Other queries are in no group, which the words say. `text_of` gives the
    text of a document by its id.

    >>> texts = {"a": "notice is given in writing", "b": "the wage is paid monthly"}
    >>> queries = Queries.of([Query("q", "is notice given in writing")])
    >>> runs = Run.of("bm25", {"q": {"a": 1.0}}), Run.of("dense", {"q": {"b": 1.0}})
    >>> found = overlap(queries, Qrels.of([("q", "a", 1)]), runs, texts.__getitem__)
    >>> found.groups[0].queries, found.groups[0].means["3-grams in common"], found.groups[0].means["LCS"]
    (1, 1.0, 4.0)
    """
    chosen = parse_measure(measure)
    first, second = (evaluate(qrels, run, [chosen]) for run in runs)
    a, b = np.round(first.values(chosen), 12), np.round(second.values(chosen), 12)
    first_wins, second_wins = _winning(a, b, contrast), _winning(b, a, contrast)
    memberships = {FIRST: first_wins, SECOND: second_wins, PERFECT: (a == 1) & (b == 1), FAIL: (a == 0) & (b == 0)}
    metrics = shared_words([_texts(query, queries, qrels, text_of) for query in first.queries])
    groups = tuple(_group(name, members, metrics) for name, members in memberships.items())
    sizes = {group.name: group.queries for group in groups}
    tests = {
        pair: _tests(pair, memberships, metrics) for pair in _COMPARED if min(sizes[pair[0]], sizes[pair[1]]) >= FEWEST
    }  # fmt: skip
    names = runs[0].name, runs[1].name
    unranked = len(set(first.missing) & set(second.missing))
    words = [_counts(names, str(chosen), sizes, len(a), unranked, contrast)]
    spelt = _spelt(names, contrast)
    words += [_finding(spelt, pair, tests.get(pair), {group.name: group for group in groups}) for pair in _COMPARED]
    found = tuple(test for some in tests.values() for test in some)
    return OverlapAnalysis(*names, str(chosen), groups, found, tuple(words), contrast)


def _winning(one: F64, other: F64, contrast: Contrast) -> Bools:
    return one > other if contrast is Contrast.HIGHER else (one == 1) & (other == 0)


def _texts(query: str, queries: Queries, qrels: Qrels, text_of: Callable[[str], str]) -> tuple[str, list[str]]:
    return queries.query(query).text, [text_of(doc) for doc, grade in qrels.judged(query).items() if grade > 0]


def _group(name: str, members: Bools, metrics: Mapping[str, F64]) -> OverlapGroup:
    count = int(members.sum())
    if not count:
        return OverlapGroup(name, 0, {}, {})
    means = {metric: float(metrics[metric][members].mean()) for metric in METRICS}
    deviations = {metric: float(metrics[metric][members].std(ddof=1)) if count > 1 else 0.0 for metric in METRICS}
    return OverlapGroup(name, count, means, deviations)


def _tests(pair: tuple[str, str], memberships: Mapping[str, Bools], metrics: Mapping[str, F64]) -> list[OverlapTest]:
    samples = [(metrics[metric][memberships[pair[0]]], metrics[metric][memberships[pair[1]]]) for metric in METRICS]
    results = [_welch(one, two) for one, two in samples]
    ps = adjust_p_values([p for p, _ in results], Correction.HOLM).tolist()
    return [
        OverlapTest(metric, p, statistic, float(one.mean() - two.mean()), pair)
        for metric, p, (_, statistic), (one, two) in zip(METRICS, ps, results, samples, strict=True)
    ]


def _welch(one: F64, two: F64) -> tuple[float, float]:
    """The p-value and t of Welch's test; where nothing varies, equal values differ by chance and others do not."""
    difference = float(one.mean() - two.mean())
    a, b = (0.0 if np.ptp(sample) == 0.0 else float(sample.var(ddof=1)) / len(sample) for sample in (one, two))
    if a + b == 0.0:
        return (1.0, 0.0) if difference == 0.0 else (0.0, math.copysign(math.inf, difference))
    statistic = difference / math.sqrt(a + b)
    freedom = (a + b) ** 2 / (a * a / (len(one) - 1) + b * b / (len(two) - 1))
    return 2.0 * t_tail(freedom, statistic), statistic


def _counts(names: tuple[str, str], measure: str, sizes: Mapping[str, int], total: int, unranked: int, contrast: Contrast) -> str:
    between = total - sum(sizes.values())
    if contrast is Contrast.HIGHER:
        won = f"{names[0]} does better than {names[1]} on {sizes[FIRST]} of {total} queries, worse on {sizes[SECOND]}"
    else:
        won = f"{names[0]} reaches 1 and {names[1]} 0 on {sizes[FIRST]} of {total} queries, the reverse on {sizes[SECOND]}"
    words = f"By {measure}, {won}, both are perfect on {sizes[PERFECT]}, and both fail on {sizes[FAIL]}"
    if unranked:
        words += f", {unranked} of which neither ranks at all"
    if between and contrast is Contrast.HIGHER:
        words += f"; {between} with equal values in between are in no group"
    elif between:
        words += f"; {between} with a value in between are in no group"
    return f"{words}."


def _spelt(names: tuple[str, str], contrast: Contrast) -> dict[str, str]:
    """The groups as the sentences name them."""
    wins = "does better" if contrast is Contrast.HIGHER else "alone is perfect"
    return {FIRST: f"where {names[0]} {wins}", SECOND: f"where {names[1]} {wins}", PERFECT: "where both are perfect"}


def _finding(
    spelt: Mapping[str, str], pair: tuple[str, str], tests: Sequence[OverlapTest] | None, groups: Mapping[str, OverlapGroup]
) -> str:
    one, two = spelt[pair[0]], spelt[pair[1]]
    if tests is None:
        counts = f"{groups[pair[0]].queries} and {groups[pair[1]].queries}"
        return f"Too few queries to compare {one} with {two} ({counts}; each needs {FEWEST})."
    found = [test for test in tests if test.p < LEVEL]
    if not found:
        return f"{one[0].upper()}{one[1:]}, the texts share as much as {two}, as far as these queries can tell."
    sides = [
        ("lower", [test for test in found if test.difference < 0]),
        ("higher", [test for test in found if test.difference > 0]),
    ]
    sentence = "; ".join(f"{word}: {_listed(some, groups)}" for word, some in sides if some)
    return f"{one[0].upper()}{one[1:]}, compared with {two}: {sentence} (Welch's t-test, Holm-corrected p < {LEVEL})."


def _listed(tests: Sequence[OverlapTest], groups: Mapping[str, OverlapGroup]) -> str:
    """Metrics with the means of both groups; n-grams of neighbouring n in one, with the means of the least n."""
    sizes = {ngrams_in_common(n): n for n in NGRAMS}
    grams = [(sizes[test.metric], test) for test in tests if test.metric in sizes]
    listed = []
    for _, run in groupby(enumerate(grams), key=lambda item: item[1][0] - item[0]):
        some = [gram for _, gram in run]
        (low, test), high = some[0], some[-1][0]
        name = test.metric if low == high else f"n-grams in common for n = {low} to {high}, {low}-grams"
        listed.append(f"{name} {_means(test, groups)}")
    listed += [f"{test.metric} {_means(test, groups)}" for test in tests if test.metric not in sizes]
    return ", ".join(listed)


def _means(test: OverlapTest, groups: Mapping[str, OverlapGroup]) -> str:
    one, two = (groups[name].means[test.metric] for name in test.groups)
    return f"{one:.1f} against {two:.1f}"
