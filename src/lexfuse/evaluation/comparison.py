"""Runs side by side: every run against one baseline, with intervals, effect sizes and corrected tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.evaluation.bootstrap import ConfidenceInterval, intervals
from lexfuse.evaluation.evaluation import MEASURES, Evaluation, EvaluationTable, aligned_lines, check_names, evaluate
from lexfuse.evaluation.measure import Measure, QueryMeasure
from lexfuse.evaluation.measure_names import parse_measure
from lexfuse.evaluation.significance import adjust_p_values, differences, effect_size, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """What the queries say about a difference: its interval, its size, who wins how often, and the test."""

    interval: ConfidenceInterval
    effect_size: float
    wins: int
    ties: int
    losses: int
    p: float
    adjusted_p: float
    significant: bool
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain values; an infinite effect is None."""
        effect = self.effect_size if math.isfinite(self.effect_size) else None
        return asdict(self) | {"interval": [self.interval.low, self.interval.high], "effect_size": effect}


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One run under one measure; `paired` is None for the baseline itself and for collection measures."""

    run: str
    measure: Measure
    mean: float
    difference: float  # to the baseline
    paired: PairedComparison | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"mean": self.mean, "difference": self.difference} | ({} if self.paired is None else self.paired.as_json())


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All runs under all measures, run by run, and how they were tested."""

    baseline: str
    test: PairedTest
    correction: Correction
    level: float
    evaluations: EvaluationTable
    rows: tuple[ComparisonRow, ...]

    def row(self, run: str, measure: Measure | str) -> ComparisonRow:
        """The row of a run and a measure."""
        wanted = parse_measure(measure) if isinstance(measure, str) else measure
        for row in self.rows:
            if row.run == run and row.measure == wanted:
                return row
        raise NotFoundError(f"run {run!r} under {wanted} was not compared")

    def notes(self) -> list[str]:
        """What was out of the ordinary, run by run."""
        return self.evaluations.notes()

    def table(self) -> list[list[str]]:
        """Cells to print, the head first."""
        confidence = f"{100 * (1 - self.level):g} % interval"
        head = ["run", "measure", "mean", "diff", confidence, "effect", "w/t/l", "p", "adj. p"]
        return [head, *(_cells(row, self.baseline) for row in self.rows)]

    def __str__(self) -> str:
        """A plain table and the notes; a star marks what is significant at the level."""
        return "\n".join([*aligned_lines(self.table()), *self.notes()])

    def as_json(self) -> dict[str, Any]:
        """Plain values, run to measure to figures."""
        runs: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            runs.setdefault(row.run, {})[str(row.measure)] = row.as_json()
        return {
            "baseline": self.baseline,
            "test": self.test.value,
            "correction": self.correction.value,
            "level": self.level,
            "queries": len(self.evaluations[0].queries),
            "runs": runs,
            "notes": self.notes(),
        }


def compare(
    qrels: Qrels,
    runs: Sequence[Run],
    measures: str | Sequence[Measure] = MEASURES,
    *,
    baseline: str | None = None,
    test: PairedTest = PairedTest.T,
    correction: Correction = Correction.HOLM,
    level: float = 0.05,
    seed: int = 0,
) -> Comparison:
    """Compare every run with the baseline (the first run if none is named) under every measure.

    P-values are corrected over one family: all pairs of (run other than the baseline, measure with values per query) in this
    call. Asking for more measures or runs therefore makes each finding harder, as it should. Intervals are bootstrap intervals
    of the mean difference with confidence 1 - level. Collection measures (microF1@5) are compared by value, without a test.

    >>> qrels = Qrels.of([("q1", "d1", 1), ("q2", "d2", 1), ("q3", "d3", 1)])
    >>> runs = [Run.of("bm25", {"q1": {"d1": 1.0}}), Run.of("dense", {"q2": {"d2": 1.0}, "q3": {"d3": 1.0}})]
    >>> comparison = compare(qrels, runs, "RR R@1", test=PairedTest.RANDOMISATION)
    >>> comparison.row("dense", "R@1").paired.adjusted_p
    1.0
    >>> print(str(comparison).splitlines()[0])
    run    measure  mean    diff      95 % interval     effect  w/t/l  p       adj. p
    """
    check_names(runs)
    names = [run.name for run in runs]
    baseline = names[0] if baseline is None else baseline
    if baseline not in names:
        raise ConfigError(f"no run is called {baseline!r}; the baseline must be one of the runs: {', '.join(names)}")
    if len(runs) < 2:
        raise ConfigError("a comparison needs at least 2 runs, got only the baseline")
    if not 0.0 < level < 1.0:
        raise ConfigError(f"level must be between 0 and 1, got {level}; 0.05 is usual")
    evaluations = evaluate(qrels, runs, measures)
    base = evaluations[names.index(baseline)]
    measured = [(evaluation, measure) for evaluation in evaluations for measure in evaluation.measures]
    pairs = [(each, measure) for each, measure in measured if each is not base and isinstance(measure, QueryMeasure)]
    tested = _tested(base, pairs, test, correction, level, seed)
    paired = {(each.run, str(measure)): result for (each, measure), result in zip(pairs, tested, strict=True)}
    rows = tuple(
        ComparisonRow(
            each.run, measure, each.mean(measure), each.mean(measure) - base.mean(measure), paired.get((each.run, str(measure)))
        )
        for each, measure in measured
    )
    return Comparison(baseline, test, correction, level, evaluations, rows)


def _tested(
    base: Evaluation,
    pairs: Sequence[tuple[Evaluation, QueryMeasure]],
    test: PairedTest,
    correction: Correction,
    level: float,
    seed: int,
) -> list[PairedComparison]:
    columns = [differences(evaluation.values(measure), base.values(measure)) for evaluation, measure in pairs]
    results = [paired_test(test, column, np.zeros(len(column)), seed=seed) for column in columns]
    corrected = adjust_p_values([result.p for result in results], correction)
    return [
        PairedComparison(
            interval=interval,
            effect_size=effect_size(column),
            wins=int(np.sum(column > 0)),
            ties=int(np.sum(column == 0)),
            losses=int(np.sum(column < 0)),
            p=result.p,
            adjusted_p=float(p),
            significant=bool(p < level),
            note=result.note,
        )
        for column, result, p, interval in zip(
            columns, results, corrected, intervals(columns, level=level, seed=seed), strict=True
        )
    ]


def _cells(row: ComparisonRow, baseline: str) -> list[str]:
    paired = row.paired
    cells = [row.run, str(row.measure), f"{row.mean:.4f}"]
    if paired is None:
        return [*cells, "baseline" if row.run == baseline else f"{row.difference:+.4f}", "", "", "", "", ""]
    return [
        *cells,
        f"{row.difference:+.4f}",
        f"[{paired.interval.low:+.3f}, {paired.interval.high:+.3f}]",
        f"{paired.effect_size:+.2f}",
        f"{paired.wins}/{paired.ties}/{paired.losses}",
        f"{paired.p:.4f}",
        f"{paired.adjusted_p:.4f}" + (" *" if paired.significant else ""),
    ]
