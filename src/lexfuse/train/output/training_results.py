"""Results of trainings: per seed and stage, and over all seeds as mean and standard deviation (FUSE Table 5)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lexfuse.data.archives import parse_json
from lexfuse.data.files import read_bytes
from lexfuse.errors import DataError
from lexfuse.train.hyperparameters import DevMeasure, selection_key

RESULTS = "training.json"  # in the folder of a trained model


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean over seeds with its standard deviation, which a single seed does not have.

    >>> Spread.of([0.5]), round(Spread.of([0.4, 0.6]).deviation, 4)
    (Spread(mean=0.5, deviation=None), 0.1414)
    """

    mean: float
    deviation: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Mean and sample deviation (divided by n - 1)."""
        return cls(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)

    def __str__(self) -> str:
        """With four decimals.

        >>> str(Spread(0.5, 0.01)), str(Spread(0.5))
        ('0.5000 ± 0.0100', '0.5000')
        """
        return f"{self.mean:.4f}" if self.deviation is None else f"{self.mean:.4f} ± {self.deviation:.4f}"


def spreads(measured: Sequence[Mapping[str, float]]) -> dict[str, Spread]:
    """The spread of every measure over the seeds."""
    names = dict.fromkeys(name for one in measured for name in one)
    return {name: Spread.of([one[name] for one in measured if name in one]) for name in names}


@dataclass(frozen=True, slots=True)
class StageResult:
    """The result of one stage: measures before its first step and of the kept weights, and the evaluations."""

    name: str
    steps: int
    best_step: int
    start: Mapping[str, float]
    measures: Mapping[str, float]
    seconds: float
    stopped_early: bool
    log: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class SeedResult:
    """The stages of one seed."""

    seed: int
    stages: tuple[StageResult, ...]

    @property
    def start(self) -> Mapping[str, float]:
        """Measures of the base."""
        return self.stages[0].start

    @property
    def measures(self) -> Mapping[str, float]:
        """Measures of the weights kept in the end."""
        return self.stages[-1].measures


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """A trained model: its origin and its dev measures. ``facts`` describes the data for the card.

    >>> one = SeedResult(7, (StageResult("judged", 10, 5, {"R@100": 0.4}, {"R@100": 0.5}, 2.0, False),))
    >>> trained = TrainingResult("dense", "base", "not stated", {"stage": [{"choose": "R@100"}]}, {"documents": 3}, (one,))
    >>> trained.best.seed, str(trained.measures["R@100"]), TrainingResult.of(trained.plain()) == trained
    (7, '0.5000', True)
    """

    kind: str
    base: str
    licence: str
    plan: Mapping[str, Any]
    facts: Mapping[str, Any]
    seeds: tuple[SeedResult, ...]

    @property
    def best(self) -> SeedResult:
        """The seed whose weights are kept: the best on dev, the first of equals."""
        choose = DevMeasure(self.plan["stage"][-1]["choose"])
        return max(self.seeds, key=lambda one: selection_key(choose, one.measures))

    @property
    def start(self) -> dict[str, Spread]:
        """Measures of the base over the seeds."""
        return spreads([one.start for one in self.seeds])

    @property
    def measures(self) -> dict[str, Spread]:
        """Measures of the result over the seeds."""
        return spreads([one.measures for one in self.seeds])

    def plain(self) -> dict[str, Any]:
        """Plain values for JSON; `TrainingResult.of` reads them."""
        return asdict(self)

    @classmethod
    def of(cls, values: Any) -> TrainingResult:
        """From plain values."""
        return TypeAdapter(cls).validate_python(values)

    @classmethod
    def read(cls, folder: str | Path) -> TrainingResult:
        """From the folder of a trained model."""
        path = Path(folder, RESULTS)
        try:
            return cls.of(parse_json(read_bytes(path), str(path)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "all of it"
            raise DataError(f"not the results of a training ({where}: {first['msg']})", path=path) from None
