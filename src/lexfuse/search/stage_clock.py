"""How long the stages of a call take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from lexfuse.deadline import check


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of a call, in all and by stage."""

    total: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)


class StageClock:
    """Measures the stages of a call.

    >>> clock = StageClock()
    >>> with clock.stage("search"):
    ...     pass
    >>> list(clock.timing().stages)
    ['search']
    """

    def __init__(self) -> None:
        """Start."""
        self._start = perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """One stage; stages of the same name add up. No stage begins after the deadline of the call."""
        check()
        start = perf_counter()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + 1000 * (perf_counter() - start)

    def timing(self) -> Timing:
        """What was measured so far."""
        total = round(1000 * (perf_counter() - self._start), 3)
        return Timing(total, {name: round(value, 3) for name, value in self._stages.items()})
