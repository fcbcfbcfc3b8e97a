"""Many tests at once find differences by chance; p-values adjusted for how many were made are honest again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.evaluation.significance import SAMPLES
from lexfuse.evaluation.significance_options import Correction


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


_CELLS = 4_000_000  # flips are made in blocks of about this many t values


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
