"""One difference on the same queries: how large it is, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lexfuse.data.arrays import F64
from lexfuse.evaluation.bootstrap import ConfidenceInterval, difference_interval
from lexfuse.evaluation.significance import differences, paired_test
from lexfuse.evaluation.significance_options import PairedTest

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean of paired differences, its bootstrap interval (95 %) and the p of the paired t-test (two-sided).

    >>> PairedDifference(0.02, ConfidenceInterval(0.01, 0.03), 0.001, 150).distinguishable
    True
    """

    mean: float
    interval: ConfidenceInterval
    p: float
    queries: int

    @property
    def distinguishable(self) -> bool:
        """Whether the test sees a difference at 0.05."""
        return self.p < LEVEL

    def words(self) -> str:
        """The difference with its interval and p.

        >>> PairedDifference(0.02, ConfidenceInterval(-0.01, 0.05), 0.21, 150).words()
        '+0.0200, 95 % interval -0.0100 to +0.0500, p = 0.210'
        """
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        return f"{self.mean:+.4f}, 95 % interval {self.interval.low:+.4f} to {self.interval.high:+.4f}, {p}"

    def as_json(self) -> dict[str, Any]:
        """Plain values.

        >>> PairedDifference(0.02, ConfidenceInterval(-0.01, 0.05), 0.21, 150).as_json()["interval"]
        [-0.01, 0.05]
        """
        return {
            "mean": self.mean,
            "interval": [self.interval.low, self.interval.high],
            "p": self.p,
            "queries": self.queries,
            "distinguishable": self.distinguishable,
        }


def paired_difference(first: F64, second: F64, *, seed: int = 0) -> PairedDifference:
    """What two arrays of values of the same queries say about first - second.

    >>> import numpy as np
    >>> paired_difference(np.array([0.5, 0.7, 0.9]), np.array([0.5, 0.7, 0.9])).p
    1.0
    """
    mean = float(differences(first, second).mean())
    p = paired_test(PairedTest.T, first, second).p
    return PairedDifference(mean, difference_interval(first, second, seed=seed), p, len(first))
