"""How sure is a mean? Percentile bootstrap intervals: queries are drawn with replacement, again and again, from one seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.evaluation.significance import SAMPLES, differences

_CELLS = 2_000_000  # resamples are drawn in blocks of about this many numbers


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """From `low` to `high`, both included.

    >>> 0.2 in ConfidenceInterval(0.1, 0.3)
    True
    """

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        """Whether a value lies between the ends."""
        return self.low <= value <= self.high


def mean_interval(values: F64 | list[float], *, level: float = 0.05, samples: int = SAMPLES, seed: int = 0) -> ConfidenceInterval:
    """The interval that holds the mean with confidence 1 - level.

    >>> mean_interval([0.5, 0.5, 0.5])
    ConfidenceInterval(low=0.5, high=0.5)
    """
    return intervals([np.asarray(values, dtype=np.float64)], level=level, samples=samples, seed=seed)[0]


def difference_interval(
    first: F64 | list[float], second: F64 | list[float], *, level: float = 0.05, samples: int = SAMPLES, seed: int = 0
) -> ConfidenceInterval:
    """The interval that holds the mean difference first - second of aligned values with confidence 1 - level.

    >>> difference_interval([0.9, 0.8, 0.7], [0.5, 0.4, 0.3])
    ConfidenceInterval(low=0.4, high=0.4)
    """
    return intervals([differences(first, second)], level=level, samples=samples, seed=seed)[0]


def intervals(columns: Sequence[F64], *, level: float = 0.05, samples: int = SAMPLES, seed: int = 0) -> list[ConfidenceInterval]:
    """Intervals of the means of several columns over the same queries, all from the same draws.

    A column gets the same interval alone as with others.

    >>> intervals([np.array([0.0, 1.0]), np.array([2.0, 2.0])])
    [ConfidenceInterval(low=0.0, high=1.0), ConfidenceInterval(low=2.0, high=2.0)]
    """
    if not 0.0 < level < 1.0:
        raise ConfigError(f"level must be between 0 and 1, got {level}; 0.05 gives 95 % intervals")
    if samples < 1:
        raise ConfigError(f"an interval needs at least 1 resample, got {samples}")
    if not columns:
        return []
    values = np.stack(columns)
    n = values.shape[1]
    if n == 0:
        raise ConfigError("an interval needs the values of at least 1 query, got none")
    generator = np.random.default_rng(seed)
    means = np.empty((len(columns), samples))
    rows = max(1, _CELLS // n)
    for start in range(0, samples, rows):
        stop = min(start + rows, samples)
        drawn = generator.integers(0, n, size=(stop - start, n)) + n * np.arange(stop - start)[:, None]
        times = np.bincount(drawn.ravel(), minlength=(stop - start) * n).reshape(stop - start, n)
        means[:, start:stop] = values @ times.T.astype(np.float64) / n
    ends = np.round(np.quantile(means, [level / 2, 1 - level / 2], axis=1), 12) + 0.0  # no noise from summing, no negative zero
    return [ConfidenceInterval(float(low), float(high)) for low, high in ends.T]
