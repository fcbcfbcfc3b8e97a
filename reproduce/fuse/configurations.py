"""Every subset of the sources by every fusion, as tables 3, 6, 9 and 10 of FUSE have them."""

from __future__ import annotations

from lexfuse.advice.grid import GridTrial, configurations, trials
from lexfuse.evaluation.evaluation import evaluate
from reproduce.experiment import Experiment
from reproduce.fuse.sources import DEPTH, LEXICAL, AskedSources, asked_sources
from reproduce.result import Measured

MEASURE = "R@10"
RECIPES = {  # of the grid, and of the paper
    "borda": "BCF", "rrf": "RRF",
    "min-max, equal": "min-max, equal", "min-max, tuned": "min-max, tuned",
    "z-score, equal": "z-score, equal", "z-score, tuned": "z-score, tuned",
    "percentile, equal": "percentile, equal", "percentile, tuned": "percentile, tuned",
}  # fmt: skip


def configuration_table(experiment: Experiment, setting: str) -> Measured:
    """R@10 on dev of every source alone and of every configuration; what improves on all of its members is counted."""
    dev = asked_sources(experiment, setting, "dev")
    rows: dict[str, dict[str, float]] = {}
    improving, tuned, held_out = 0, 0, []
    for trial in _trials(experiment, setting):
        members, value = trial.configuration.members, reached(dev, trial)
        if trial.fusion is None:
            rows[members[0]] = {"alone": value}
            continue
        rows.setdefault(" + ".join(members), {})[RECIPES[trial.configuration.method]] = value
        better = value > max(rows[member]["alone"] for member in members)
        improving, tuned = improving + better, tuned + (better and trial.tuned)
        if trial.tuned:
            held_out.append(value - trial.mean)
    count = configurations(len(dev.union.names), len(RECIPES))
    rows["configurations that improve"] = {f"of {count}": improving}
    flattered = sum(held_out) / max(1, len(held_out))
    notes = f"{tuned} of them have tuned weights.", f"Held out, tuned weights reach {flattered:.3f} less on average."
    return Measured(rows, notes=notes)


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
