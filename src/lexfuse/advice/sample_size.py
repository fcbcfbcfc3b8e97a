"""Whether there are enough judged queries to tell: the sample size of a paired t-test, from the spread that was observed.

With paired differences of standard deviation s on n queries, a two-sided t-test at 0.05 finds a true difference d with a
probability of about 0.8 (four times out of five) where

    n >= ((t(0.975, n - 1) + t(0.8, n - 1)) * s / d) ** 2,

t being quantiles of Student's distribution with the degrees of freedom that s was estimated with, which makes up for few queries
(Stein's two-stage procedure). It assumes that the queries are a random sample of those to come, that the spread stays as
observed, that differences are near enough to normal, and one test: the correction for many tests needs more queries than this.
"""

from __future__ import annotations

import math

from lexfuse.advice.findings import Power
from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError

SMALLEST = 0.05  # a difference that matters
LEVEL, CHANCE = 0.05, 0.8


def power_of(difference: F64, smallest: float = SMALLEST) -> Power:
    """What the paired differences of two configurations say about the number of queries.

    >>> import numpy as np
    >>> found = power_of(np.array([0.1, -0.2, 0.3, 0.0, 0.1, -0.1]))
    >>> found.queries, found.needed, round(found.detectable, 3), found.enough
    (6, 150, 0.25, False)
    """
    from scipy.special import stdtrit

    if not 0 < smallest < math.inf:
        raise ConfigError(f"the smallest difference that matters must be above 0, got {smallest}; {SMALLEST} is usual")
    count = len(difference)
    factor = float(stdtrit(count - 1, 1 - LEVEL / 2) + stdtrit(count - 1, CHANCE)) * float(difference.std(ddof=1))
    return Power(count, smallest, factor / math.sqrt(count), max(2, math.ceil((factor / smallest) ** 2 - 1e-9)))
