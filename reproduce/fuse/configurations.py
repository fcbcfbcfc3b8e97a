"""Every subset of the sources by every fusion, as tables 3, 6, 9 and 10 of FUSE have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexfuse.advice.grid import GridTrial, configurations, trials
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.significance import adjust_max_t
from reproduce.experiment import Experiment
from reproduce.fuse.sources import DEPTH, LEXICAL, AskedSources, asked_sources
from reproduce.result import Marked, Measured

MEASURE = "R@10"
BETTER, WORSE, LEVEL = "▲", "▼", 0.05
RECIPES = {  # of the grid, and of the paper
    "borda": "BCF", "rrf": "RRF",
    "min-max, equal": "min-max, equal", "min-max, tuned": "min-max, tuned",
    "z-score, equal": "z-score, equal", "z-score, tuned": "z-score, tuned",
    "percentile, equal": "percentile, equal", "percentile, tuned": "percentile, tuned",
}  # fmt: skip


def configuration_table(experiment: Experiment, setting: str) -> Measured:
    """R@10 on dev of every source alone and of every configuration, tested against the best of its members.

    What improves on all of its members is counted, on dev and on test. The test of significance takes tuned weights on questions
    that they were not tuned on, and corrects all comparisons together.
    """
    dev, test = (asked_sources(experiment, setting, split) for split in ("dev", "test"))
    tried = _trials(experiment, setting)
    single = {trial.configuration.members[0]: trial for trial in tried if trial.fusion is None}
    fused = [trial for trial in tried if trial.fusion is not None]
    rows: dict[str, dict[str, float | Marked]] = {name: {"alone": trial.mean} for name, trial in single.items()}
    marks = difference_marks(fused, single)
    values = [reached(dev, trial) for trial in fused]
    for trial, value, mark in zip(fused, values, marks, strict=True):
        rows.setdefault(" + ".join(trial.configuration.members), {})[RECIPES[trial.configuration.method]] = Marked(value, mark)
    improving = [value > max(single[name].mean for name in _members(trial)) for trial, value in zip(fused, values, strict=True)]
    runs = test.systems()
    alone = {name: evaluate(test.qrels, runs[name], MEASURE).mean(MEASURE) for name in single}
    confirmed = [reached(test, trial) > max(alone[name] for name in _members(trial)) for trial in fused]
    count = configurations(len(dev.union.names), len(RECIPES))
    rows["configurations that improve"] = {
        f"of {count}": sum(improving),
        f"of {count}, weights from dev, on test": sum(confirmed),
        "significantly on dev": marks.count(BETTER),
        "significantly worse on dev": marks.count(WORSE),
    }
    tuned = [trial for trial in fused if trial.tuned]
    gains = [value - trial.mean for trial, value in zip(fused, values, strict=True) if trial.tuned]
    notes = (
        f"{sum(better and trial.tuned for trial, better in zip(fused, improving, strict=True))} of them have tuned weights.",
        f"Held out, tuned weights reach {sum(gains) / max(1, len(tuned)):.3f} less on average.",
        f"{BETTER}: better than the best of its members, {WORSE}: worse (randomisation test, p < {LEVEL}, corrected together).",
    )
    return Measured(rows, notes=notes)


def difference_marks(fused: Sequence[GridTrial], single: Mapping[str, GridTrial]) -> list[str]:
    """Whether each configuration differs from the best of its members."""
    best = [max((single[name] for name in _members(trial)), key=lambda one: one.mean) for trial in fused]
    away = [trial.values - one.values for trial, one in zip(fused, best, strict=True)]
    found = zip(away, adjust_max_t(away), strict=True)
    return ["" if p >= LEVEL else BETTER if one.mean() > 0 else WORSE for one, p in found]


def _members(trial: GridTrial) -> tuple[str, ...]:
    return tuple(trial.configuration.members)


def weight_table(experiment: Experiment, setting: str) -> Measured:
    """The tuned weights of every subset."""
    rows: dict[str, dict[str, float]] = {}
    for trial in _trials(experiment, setting):
        if trial.tuned:
            members = trial.configuration.members
            normaliser = trial.configuration.method.removesuffix(", tuned")
            weights = {f"{normaliser}, {name}": weight for name, weight in zip(members, trial.weights, strict=True)}
            rows.setdefault(" + ".join(members), {}).update(weights)
    return Measured(rows)


def reached(asked: AskedSources, trial: GridTrial) -> float:
    """What a configuration reaches on all questions, with weights that were chosen on them."""
    if trial.fusion is None:
        return trial.mean
    places = [asked.union.names.index(name) for name in trial.configuration.members]
    run = trial.fusion.fused(asked.union.only(places), DEPTH)
    return evaluate(asked.qrels, run, MEASURE).mean(MEASURE)


def _trials(experiment: Experiment, setting: str) -> list[GridTrial]:
    dev = asked_sources(experiment, setting, "dev")
    return experiment.once(
        ("fuse trials", setting),
        lambda: trials(dev.union, dev.qrels, MEASURE, lexical=frozenset({LEXICAL}), recipes=tuple(RECIPES)),
    )
