"""Is one run really better than another? Paired tests on aligned arrays, and the size of the effect.

All tests are two-tailed and look at the differences of the same queries under two runs:

- t: Student's paired t-test; assumes a mean that is near normal, which some fifty queries give.
- Wilcoxon: the signed-rank test; looks at ranks of differences, zero differences are left out.
- randomisation: flips the sign of each difference, as if the two runs had swapped names; assumes nothing else. All flips are
  tried where few queries differ, otherwise a seeded sample, with p = (count + 1) / (samples + 1).

Many tests at once find differences by chance; `adjust_p_values` and `adjust_max_t` correct for how many were made.

Differences are rounded to 12 decimals first, so that runs that differ only in the last bit of a sum count as equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.evaluation.student_t import t_tail

SAMPLES = 10_000
_EXACT_UP_TO = 14  # differing queries: 16,384 sign patterns, about as many as a sample
_EXACT_TIED, _EXACT_RANKS = 13, 50  # queries up to which the signed-rank test is exact: with ties, and without
_DECIMALS = 12
_CELLS = 2_000_000  # sign patterns are drawn in blocks of about this many numbers
_T_CELLS = 4_000_000  # flips are made in blocks of about this many t values


@dataclass(frozen=True, slots=True)
class PairedResult:
    """The outcome of a paired test; `note` says what was special, such as two runs without any difference.

    >>> paired_test(PairedTest.T, [0.5, 0.7], [0.5, 0.7])
    PairedResult(p=1.0, statistic=0.0, queries=2, note='no query differs')
    """

    p: float
    statistic: float
    queries: int
    note: str = ""


def differences(first: F64 | list[float], second: F64 | list[float]) -> F64:
    """First minus second, query by query, rounded to 12 decimals; `ConfigError` if the arrays are not aligned.

    >>> differences([0.3], [0.1 + 0.2]).tolist()
    [0.0]
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ConfigError(f"paired values must be two arrays of one length, got {a.shape} and {b.shape}; align them by query")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ConfigError("paired values must be finite numbers, got NaN or infinity")
    return np.round(a - b, _DECIMALS) + 0.0  # no negative zeros


def paired_test(
    test: PairedTest, first: F64 | list[float], second: F64 | list[float], *, samples: int = SAMPLES, seed: int = 0
) -> PairedResult:
    """Test whether two runs differ on the same queries, two-tailed.

    `samples` and `seed` matter to the randomisation test only. Fewer than two queries are a `ConfigError`.

    >>> round(paired_test(PairedTest.T, [0.9, 0.8, 0.7, 0.9], [0.5, 0.6, 0.5, 0.8]).p, 4)
    0.0374
    >>> paired_test(PairedTest.RANDOMISATION, [0.9, 0.8, 0.7, 0.9], [0.5, 0.6, 0.5, 0.8]).p
    0.125
    """
    difference = differences(first, second)
    if len(difference) < 2:
        raise ConfigError(f"a paired test needs at least 2 queries, got {len(difference)}")
    if samples < 1:
        raise ConfigError(f"the randomisation test needs at least 1 sample, got {samples}")
    if not difference.any():
        return PairedResult(1.0, 0.0, len(difference), "no query differs")
    if test is PairedTest.T:
        return _student(difference)
    if test is PairedTest.WILCOXON:
        return _wilcoxon(difference)
    return _randomisation(difference, samples, seed)


def effect_size(difference: F64) -> float:
    """Cohen's d of paired differences: mean / standard deviation (with n - 1); 0 if there is no difference at all.

    Where all queries differ by one and the same amount the deviation is 0 and the effect infinite.

    >>> effect_size(np.array([1.0, 2.0, 3.0])), effect_size(np.zeros(5)), effect_size(np.full(3, -0.5))
    (2.0, 0.0, -inf)
    """
    mean, deviation = float(difference.mean()), _deviation(difference)
    if mean == 0.0:
        return 0.0
    return mean / deviation if deviation else math.copysign(math.inf, mean)


def _student(difference: F64) -> PairedResult:
    n = len(difference)
    mean, deviation = float(difference.mean()), _deviation(difference)
    if deviation == 0.0:
        return PairedResult(0.0, math.copysign(math.inf, mean), n, "all queries differ by the same amount")
    statistic = mean / deviation * math.sqrt(n)
    return PairedResult(2.0 * t_tail(n - 1, statistic), statistic, n)


def _wilcoxon(difference: F64) -> PairedResult:
    """Exact where that is cheap, or where no two differences tie; else by the normal approximation, corrected for ties."""
    differing = difference[difference != 0.0]
    sizes, place, ties = np.unique(np.abs(differing), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(ties) - ties + 1)[place]  # twice the mean ranks, which are whole numbers
    above, total, n = int(doubled[differing > 0].sum()), int(doubled.sum()), len(differing)
    if len(difference) <= _EXACT_TIED or len(sizes) == len(difference) <= _EXACT_RANKS:
        ways = np.zeros(total + 1)  # how many signs of the differences give each sum
        ways[0] = 1.0
        for rank in doubled.tolist():
            ways[rank:] += ways[: total + 1 - rank].copy()
        p = min(2.0 * min(ways[: above + 1].sum(), ways[above:].sum()) / ways.sum(), 1.0)
    else:
        variance = (n * (n + 1) * (2 * n + 1) - (ties**3 - ties).sum() / 2) / 24
        p = math.erfc(abs(above - total / 2) / 2 / math.sqrt(2 * variance))
    return PairedResult(float(p), min(above, total - above) / 2, len(difference))


def _randomisation(difference: F64, samples: int, seed: int) -> PairedResult:
    differing = difference[difference != 0.0]  # flipping a zero changes nothing
    observed = abs(float(differing.sum()))
    limit = observed - 1e-9 * float(np.abs(differing).max())  # sums that differ only by rounding count as equal
    exact = len(differing) <= _EXACT_UP_TO
    blocks = _all_flips(len(differing)) if exact else _sampled_flips(len(differing), samples, seed)
    # a flipped sum is the whole sum minus twice the flipped part
    count = sum(int(np.sum(np.abs(differing.sum() - 2.0 * (flips @ differing)) >= limit)) for flips in blocks)
    p = count / 2 ** len(differing) if exact else (count + 1) / (samples + 1)
    note = f"exact: all {2 ** len(differing):,} sign flips" if exact else f"{samples:,} sampled sign flips"
    return PairedResult(p, float(difference.mean()), len(difference), note)


def _all_flips(n: int) -> Iterator[F64]:
    patterns = np.arange(2**n)
    yield ((patterns[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _sampled_flips(n: int, samples: int, seed: int) -> Iterator[F64]:
    generator = np.random.default_rng(seed)
    rows = max(1, _CELLS // n)
    for start in range(0, samples, rows):
        yield generator.integers(0, 2, size=(min(rows, samples - start), n), dtype=np.int8).astype(np.float64)


def _deviation(difference: F64) -> float:
    """Standard deviation with n - 1; exactly 0 where all values are equal, which rounding in the mean would hide."""
    return 0.0 if len(difference) < 2 or np.ptp(difference) == 0.0 else float(difference.std(ddof=1))


def adjust_p_values(p_values: Sequence[float] | F64, correction: Correction) -> F64:
    """Adjusted p-values, in the order given, at most 1.

    >>> adjust_p_values([0.01, 0.04, 0.03], Correction.HOLM).tolist()
    [0.03, 0.06, 0.06]
    >>> adjust_p_values([0.01, 0.4], Correction.BONFERRONI).tolist()
    [0.02, 0.8]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ConfigError("p-values must lie between 0 and 1")
    if correction is Correction.NONE:
        return p.copy()
    if correction is Correction.BONFERRONI:
        return np.minimum(p * len(p), 1.0)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(steps, 1.0)
    return result


def adjust_max_t(columns: Sequence[F64], *, samples: int = SAMPLES, seed: int = 0) -> F64:
    """The adjusted p-value of every column of paired differences over the same queries, two-tailed.

    >>> clear, none = np.array([0.3, 0.2, 0.4, 0.3, 0.2, 0.3, 0.4, 0.2]), np.array([0.1, -0.1, 0.2, -0.2, 0.1, -0.1, 0.0, 0.0])
    >>> adjust_max_t([clear, none]).round(2).tolist()
    [0.01, 1.0]
    """
    if not columns:
        return np.empty(0)
    table = np.stack(columns)
    n = table.shape[1]
    if n < 2:
        raise ConfigError(f"a paired test needs at least 2 queries, got {n}")
    squares = np.square(table).sum(axis=1)
    observed = _t(table.mean(axis=1), squares, n)
    generator = np.random.default_rng(seed)
    reached = np.zeros(len(table))
    rows = max(1, _T_CELLS // len(table))
    for start in range(0, samples, rows):
        signs = generator.integers(0, 2, size=(min(rows, samples - start), n)) * 2.0 - 1.0
        highest = np.sort(_t(signs @ table.T / n, squares, n).max(axis=1))
        reached += len(highest) - np.searchsorted(highest, observed - 1e-9)
    return (reached + 1) / (samples + 1)


def _t(means: F64, squares: F64, n: int) -> F64:
    """The size of Student's t of means of n differences with these sums of squares; 0 where nothing differs."""
    spread = np.sqrt(np.maximum(squares - n * np.square(means), 0.0) / (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(means) * np.sqrt(n) / spread
    found: F64 = np.where(np.abs(means) > 0, t, 0.0)
    return found
