"""Many tests at once find differences by chance; p-values adjusted for how many were made are honest again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.evaluate.choices import Correction


def adjusted(p_values: Sequence[float] | F64, correction: Correction) -> F64:
    """Adjusted p-values, in the order given, at most 1.

    >>> adjusted([0.01, 0.04, 0.03], Correction.HOLM).tolist()
    [0.03, 0.06, 0.06]
    >>> adjusted([0.01, 0.4], Correction.BONFERRONI).tolist()
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
