"""Which configuration to take: differences with intervals and tests, and a choice that prefers the simple.

The highest mean of hundreds of configurations is partly luck. So the choice is not the highest but, of those whose distance to
it is within one standard error of their paired difference, the one with the fewest sources; then one without tuned weights; then
the highest. Adding a source must be worth more than the noise. Test queries are used once, to confirm the choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lexfuse.advice.findings import Confirmation, Difference, Power
from lexfuse.advice.grid import GridTrial
from lexfuse.advice.inputs import JudgedSources
from lexfuse.data.arrays import F64, I64
from lexfuse.errors import ConfigError
from lexfuse.evaluation.bootstrap import ConfidenceInterval, intervals
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.significance import adjust_max_t, adjust_p_values, differences, effect_size, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.evaluation.student_t import t_quantile
from lexfuse.fusion.convex import Convex
from lexfuse.optimisation.cross_validation import held_out
from lexfuse.optimisation.weight_surface import first_highest, tied_highest

SMALLEST = 0.05  # a difference that matters
LEVEL, CHANCE = 0.05, 0.8  # of a test, and of finding a difference that is there
_ROUNDING = 1e-9  # of a mean and of a standard error, generously


def compare_configurations(pairs: Sequence[tuple[F64, F64]], *, seed: int = 0) -> list[Difference]:
    """The difference of each pair of values per query; all of them are one family.

    p is that of the paired t-test. It is corrected by max-T where all pairs are over the same queries, by Holm's method if not.

    >>> compare_configurations([(np.array([0.9, 0.8, 0.9, 0.7]), np.array([0.5, 0.6, 0.4, 0.5]))])[0].outcome
    <Outcome.BETTER: 'better'>
    """
    columns = [differences(first, second) for first, second in pairs]
    p = [paired_test(PairedTest.T, column, np.zeros(len(column)), seed=seed).p for column in columns]
    same = len({len(column) for column in columns}) == 1
    corrected = adjust_max_t(columns, seed=seed) if same and len(columns) > 1 else adjust_p_values(p, Correction.HOLM)
    around = _intervals(columns, seed)
    return [
        Difference(float(column.mean()), interval, effect_size(column), each, float(both), len(column))
        for column, interval, each, both in zip(columns, around, p, corrected, strict=True)
    ]


def best_members(trials: Sequence[GridTrial]) -> dict[str, GridTrial]:
    """For every fused configuration by its name, the member with the highest mean.

    >>> from lexfuse.advice.findings import Configuration
    >>> single = [GridTrial(Configuration((name,)), None, (1.0,), np.array([value])) for name, value in (("a", 0.2), ("b", 0.3))]
    >>> fused = GridTrial(Configuration(("a", "b"), "rrf"), None, (1.0, 1.0), np.array([0.5]))
    >>> best_members([*single, fused])["a + b, rrf"].configuration.name
    'b'
    """
    alone = {trial.configuration.members[0]: trial for trial in trials if len(trial.configuration.members) == 1}
    fused = [trial.configuration for trial in trials if len(trial.configuration.members) > 1]
    return {each.name: _highest([alone[member] for member in each.members]) for each in fused}


def best(trials: Sequence[GridTrial]) -> GridTrial:
    """The one with the highest mean; of equal ones that with fewer sources, then the first.

    >>> from lexfuse.advice.findings import Configuration
    >>> best([GridTrial(Configuration((name,)), None, (1.0,), np.array([0.5])) for name in "ab"]).configuration.name
    'a'
    """
    highest: list[GridTrial] = [trials[at] for at in tied_highest(np.array([trial.mean for trial in trials])).tolist()]
    fewest = min(len(trial.configuration.members) for trial in highest)
    return next(trial for trial in highest if len(trial.configuration.members) == fewest)


def choose_configuration(trials: Sequence[GridTrial]) -> GridTrial:
    """The simplest configuration within one standard error of the best; at just one standard error it is within.

    >>> from lexfuse.advice.findings import Configuration
    >>> alone = GridTrial(Configuration(("a",)), None, (1.0,), np.array([0.5, 0.4, 0.6, 0.5]))
    >>> fused = GridTrial(Configuration(("a", "b"), "rrf"), None, (1.0, 1.0), np.array([0.6, 0.3, 0.7, 0.5]))
    >>> choose_configuration([alone, fused]) is alone
    True
    """
    first = best(trials)
    near = [trial for trial in trials if trial is first or _within_one_error(first.values, trial.values)]
    simplest = min((len(trial.configuration.members), trial.tuned) for trial in near)
    return _highest([trial for trial in near if (len(trial.configuration.members), trial.tuned) == simplest])


def held_out_choice(trials: Sequence[GridTrial], queries: Sequence[str], *, folds: int, seed: int = 0) -> F64:
    """What the choice itself is worth, query by query: it is made again without each fold, and measured on the fold.

    >>> from lexfuse.advice.findings import Configuration
    >>> alone = GridTrial(Configuration(("a",)), None, (1.0,), np.array([0.5, 0.4, 0.6, 0.5]))
    >>> held_out_choice([alone], ["q1", "q2", "q3", "q4"], folds=2).tolist()
    [0.5, 0.4, 0.6, 0.5]
    """

    def choose(rest: I64) -> tuple[int, F64, F64]:
        again = [replace(trial, values=trial.values[rest]) for trial in trials]
        chosen = again.index(choose_configuration(again))
        return chosen, np.empty(0), trials[chosen].values

    return held_out(tuple(queries), choose, folds, seed).values


def _intervals(columns: Sequence[F64], seed: int) -> list[ConfidenceInterval]:
    """Bootstrap intervals of columns, those over equally many queries from the same draws."""
    found: dict[int, ConfidenceInterval] = {}
    for length in {len(column) for column in columns}:
        some = [at for at, column in enumerate(columns) if len(column) == length]
        found |= dict(zip(some, intervals([columns[at] for at in some], seed=seed), strict=True))
    return [found[at] for at in range(len(columns))]


def _highest(trials: Sequence[GridTrial]) -> GridTrial:
    """The one with the highest mean, the first of equal ones."""
    return trials[first_highest([trial.mean for trial in trials])]


def _within_one_error(first: F64, second: F64) -> bool:
    """Whether the mean of the differences is at most their standard error.

    Where two configurations differ on one query alone, both are that difference by the number of queries, exactly: a tie that the
    rounding of a sum must not decide.
    """
    difference = differences(first, second)
    if len(difference) < 2:
        return not difference.any()
    error = float(difference.std(ddof=1)) / math.sqrt(len(difference))
    return float(difference.mean()) <= error * (1 + _ROUNDING)


def pareto_front(points: Sequence[tuple[float, ...]], maximise: Sequence[bool]) -> tuple[bool, ...]:
    """For every point, whether none is at least as good in every coordinate and better in one; equal ones are together.

    `maximise` says for every coordinate whether more is better (quality) or less (milliseconds, bytes).

    >>> pareto_front([(0.5, 10.0), (0.6, 30.0), (0.4, 20.0)], [True, False])
    (True, True, False)
    """
    for point in points:
        if len(point) != len(maximise):
            raise ConfigError(f"every point must have {len(maximise)} coordinates, one for each direction, got {point}")
    table = np.array(points, dtype=np.float64).reshape(len(points), len(maximise))
    if np.isnan(table).any():
        at = int(np.flatnonzero(np.isnan(table).any(axis=1))[0])
        raise ConfigError(f"point {at} of the Pareto front has a coordinate that is NaN, got {points[at]}; leave it out")
    gain = np.where(maximise, table, -table)
    return tuple(not bool(((gain >= own).all(axis=1) & (gain > own).any(axis=1)).any()) for own in gain)


def power_of(difference: F64, smallest: float = SMALLEST) -> Power:
    """Whether there are enough queries to tell: the sample size of a paired t-test, from the differences observed.

    With paired differences of standard deviation s on n queries, a two-sided t-test at 0.05 finds a true difference d with a
    probability of about 0.8 (four times out of five) where

        n >= ((t(0.975, n - 1) + t(0.8, n - 1)) * s / d) ** 2,

    t being quantiles of Student's distribution with the degrees of freedom that s was estimated with, which makes up for few
    queries (Stein's two-stage procedure). It assumes that the queries are a random sample of those to come, that the spread stays
    as observed, that differences are near enough to normal, and one test: a correction for many tests needs more queries.

    Few queries may not differ at all, and then s says nothing. So never fewer than `fewest_queries` are enough.

    >>> found = power_of(np.array([0.1, -0.2, 0.3, 0.0, 0.1, -0.1]))
    >>> found.queries, found.needed, round(found.detectable, 3), found.enough
    (6, 150, 0.25, False)
    >>> power_of(np.zeros(6)).needed
    59
    """
    if not 0 < smallest < math.inf:
        raise ConfigError(f"the smallest difference that matters must be above 0, got {smallest}; {SMALLEST} is usual")
    count = len(difference)
    factor = (t_quantile(count - 1, 1 - LEVEL / 2) + t_quantile(count - 1, CHANCE)) * float(difference.std(ddof=1))
    needed = max(fewest_queries(smallest), math.ceil((factor / smallest) ** 2 - 1e-9))
    return Power(count, smallest, factor / math.sqrt(count), needed)


def fewest_queries(smallest: float) -> int:
    """The fewest queries that would show a difference that matters even where only rare queries have it.

    A source may help one query in twenty, and that one from 0 to 1: a mean difference of 0.05. n queries miss all of these with
    the probability (1 - 0.05) ** n, which is at most 0.05 from 59 queries on.

    >>> fewest_queries(0.05), fewest_queries(0.2), fewest_queries(1.0)
    (59, 14, 2)
    """
    return 2 if smallest >= 1 else max(2, math.ceil(math.log(LEVEL) / math.log1p(-smallest) - 1e-9))


def confirm_on_test(
    test: JudgedSources, choice: GridTrial, top: GridTrial, best_member: str, measures: Sequence[str], *, seed: int = 0
) -> Confirmation:
    """The choice on test queries, compared with its best member, equal weights, and the highest dev mean if that was another.

    >>> from lexfuse.advice.findings import Configuration
    >>> union = union_of([Run.of("a", {"q": {"x": 2.0}, "r": {"y": 1.0}}), Run.of("b", {"q": {"y": 3.0}})])
    >>> choice = GridTrial(Configuration(("a",)), None, (1.0,), np.ones(2))
    >>> confirm_on_test(JudgedSources(union, Qrels.of([("q", "x", 1), ("r", "y", 1)])), choice, choice, "", ["RR"]).means
    {'RR': {'a': 1.0, 'b': 0.0}}
    """
    name, members = choice.configuration.name, choice.configuration.members
    runs = {run.name: run for run in test.singles()}
    rivals = {f"{best_member} alone": best_member} if best_member else {}
    for trial in (choice, top):
        called = trial.configuration.name
        runs.setdefault(called, test.fused(trial.configuration.members, trial.fusion, called))
    if top is not choice:
        rivals[top.configuration.name] = top.configuration.name
    if choice.tuned and isinstance(choice.fusion, Convex):
        equal = f"{' + '.join(members)}, equal weights"
        runs[equal] = test.fused(members, replace(choice.fusion, weights=None), equal)
        rivals["equal weights"] = equal
    found = {called: evaluate(test.qrels, run, " ".join(measures)) for called, run in runs.items()}
    means = {measure: {called: each.mean(measure) for called, each in found.items()} for measure in measures}
    ours = found[name].values(measures[0])
    versus = compare_configurations([(ours, found[rival].values(measures[0])) for rival in rivals.values()], seed=seed)
    return Confirmation(len(ours), means, dict(zip(rivals, versus, strict=True)))
