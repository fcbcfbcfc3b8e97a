"""Where scores of one source lie among all that it gives: quantiles, for percentile normalisation (FUSE, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F32, F64
from lexfuse.errors import DataError

# A thousand equal steps, the last of which, where the best documents of a query lie, is cut into a thousand again.
SHARES: F64 = np.concatenate([np.arange(999) / 1000, 0.999 + np.arange(1001) / 1_000_000])


@dataclass(frozen=True, eq=False)
class ScoreLevels:
    """Scores in rising order, each with a share of all scores of which none is higher than it.

    >>> ScoreLevels.of(np.array([5, 0, 0, 3], np.float32)).below(np.array([-1.0, 0.0, 3.0, 5.0, 9.0])).tolist()
    [0.0, 0.0, 0.5, 0.75, 1.0]
    """

    scores: F64
    shares: F64

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        rising = all(np.isfinite(row).all() and (np.diff(row) >= 0).all() for row in (self.scores, self.shares))
        if len(self.scores) < 2 or len(self.scores) != len(self.shares) or not rising:
            raise DataError("a distribution needs at least two finite quantiles in rising order; estimate it again")

    @classmethod
    def of(cls, scores: F32 | F64) -> ScoreLevels:
        """The quantiles of scores, at `SHARES`; each is one of the scores. Without any score everything is above."""
        if not len(scores):
            return cls(np.zeros(len(SHARES)), SHARES)
        places = np.floor(np.round(SHARES * len(scores), 6)).astype(np.int64)
        return cls(np.sort(scores)[np.minimum(places, len(scores) - 1)].astype(np.float64), SHARES)

    def below(self, scores: F64) -> F64:
        """The share of scores that are lower; in a straight line between the quantiles.

        What many documents share, such as 0 where no word matches, is above nothing but what is lower still. A score above all
        that were seen gives 1.
        """
        # Read from the highest down: of equal quantiles `interp` takes the last, which is then that of the lowest share.
        return np.interp(-scores, -self.scores[::-1], self.shares[::-1], left=1.0, right=0.0)
