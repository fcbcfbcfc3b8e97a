"""Which configuration to take: differences with what says how far to trust them, and a choice that prefers what is simple.

The highest mean of hundreds of configurations is partly luck. So the choice is not the highest but, of those whose distance to
it is within one standard error of their paired difference, the one with the fewest sources; then one without tuned weights; then
the highest. Adding a source must be worth more than the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lexfuse.advice.findings import Difference
from lexfuse.advice.grid import GridTrial
from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.evaluation.bootstrap import ConfidenceInterval, intervals
from lexfuse.evaluation.correction import adjust_max_t, adjust_p_values
from lexfuse.evaluation.significance import differences, effect_size, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.optimisation.cross_validation import folds_of
from lexfuse.optimisation.weight_surface import first_highest, tied_highest

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
    values = np.empty(len(queries))
    fold = folds_of(queries, folds, seed)
    for number in range(folds):
        held = fold == number
        again = [replace(trial, values=trial.values[~held]) for trial in trials]
        values[held] = trials[again.index(choose_configuration(again))].values[held]
    return values


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
