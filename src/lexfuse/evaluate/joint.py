"""Many tests on the same queries, corrected together: the max-T method of Westfall and Young, by flips of signs.

Hundreds of configurations of the same sources differ little from each other, and Holm's correction, which allows for tests that
have nothing to do with each other, finds next to nothing among them. Here the sign of a query's difference is flipped in all
tests at once, as if the two sides had swapped names on that query; a test is significant if its t is higher than almost all of
the highest t of the flips. That controls the chance of a single false finding in the whole family, however the tests depend on
each other, and loses no power to tests that repeat each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.evaluate.significance import SAMPLES

_CELLS = 4_000_000  # flips are made in blocks of about this many t values


def jointly_adjusted(columns: Sequence[F64], *, samples: int = SAMPLES, seed: int = 0) -> F64:
    """The adjusted p-value of every column of paired differences over the same queries, two-tailed.

    >>> clear, none = np.array([0.3, 0.2, 0.4, 0.3, 0.2, 0.3, 0.4, 0.2]), np.array([0.1, -0.1, 0.2, -0.2, 0.1, -0.1, 0.0, 0.0])
    >>> jointly_adjusted([clear, none]).round(2).tolist()
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
    rows = max(1, _CELLS // len(table))
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
