"""Progress of a training: messages, steps and speed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

LOOKED_AFTER = 5  # steps after the first, when the speed is reported


@dataclass(frozen=True, slots=True)
class ProgressListener:
    """Receives messages, and the number of finished steps over all seeds and stages."""

    say: Callable[[str], None] = lambda _: None
    progress: Callable[[int], None] = lambda _: None


class TrainingSpeed:
    """Counts steps over all seeds and stages; reports the speed on a CPU once it is known.

    >>> done = []
    >>> pace = TrainingSpeed(ProgressListener(progress=done.append), 20, slow=True)
    >>> pace.step(1)
    >>> pace.next(10)
    >>> pace.step(1)
    >>> done
    [1, 10, 11]
    """

    def __init__(self, telling: ProgressListener, total: int, slow: bool) -> None:
        self.telling, self.total, self.slow = telling, total, slow
        self.before = 0
        self.times: list[float] = []

    def step(self, done: int) -> None:
        """Count one more step of this stage."""
        self.telling.progress(self.before + done)
        if not self.slow:
            return
        self.times.append(time.monotonic())
        if len(self.times) > LOOKED_AFTER:
            between = statistics.median(
                after - before for before, after in pairwise(self.times)
            )  # an evaluation may be among them
            left = (self.total - self.before - done) * between
            self.telling.say(
                f"{1 / max(between, 1e-9):.2g} steps a second: {_span(left)} for the steps that are left, and the evaluations"
            )
            self.slow = False

    def next(self, steps: int) -> None:
        """The stage is finished, early or not."""
        self.before += steps
        self.telling.progress(self.before)


def _span(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} minutes"
