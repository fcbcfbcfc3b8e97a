"""Classes of queries: what holds for citation lookups, keywords, questions and whole documents, each by itself.

A class gets its own configuration only where cross-validation supports it: chosen without each fold of the class and
measured on the fold, it must beat the general choice on the same queries, after correction for the number of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lexfuse.advice import verdict
from lexfuse.advice.choice import choose_configuration, compare_configurations, held_out_choice
from lexfuse.advice.findings import ClassFinding, ConfigurationResult, Difference, Outcome
from lexfuse.advice.grid import GridTrial
from lexfuse.text.query_class import QueryClass

FEWEST = 20  # queries of a class that may get their own configuration


def class_findings(
    classes: Sequence[QueryClass],
    queries: Sequence[str],
    trials: Sequence[GridTrial],
    choice: GridTrial,
    tried: Mapping[str, ConfigurationResult],
    *,
    folds: int,
    seed: int = 0,
) -> tuple[ClassFinding, ...]:
    """What holds for each class that some queries are of; `tried` are all trials as plain values, by name.

    >>> from lexfuse.advice.findings import Configuration
    >>> alone = GridTrial(Configuration(("bm25",)), None, (1.0,), np.ones(2))
    >>> found = class_findings([QueryClass.QUESTION] * 2, ["q1", "q2"], [alone], alone, {}, folds=2)
    >>> found[0].name, found[0].words
    ('question', 'all queries are of this class')
    """
    rows = {kind: np.array([at for at, each in enumerate(classes) if each is kind], dtype=np.int64) for kind in QueryClass}
    parts = {kind: [replace(trial, values=trial.values[some]) for trial in trials] for kind, some in rows.items() if len(some)}
    large = [kind for kind in parts if max(FEWEST, folds) <= len(rows[kind]) < len(queries)]
    own = {
        kind: held_out_choice(parts[kind], [queries[at] for at in rows[kind].tolist()], folds=folds, seed=seed) for kind in large
    }
    tests = dict(
        zip(large, compare_configurations([(own[kind], choice.values[rows[kind]]) for kind in large], seed=seed), strict=True)
    )
    return tuple(_finding(kind, some, len(queries), choice, tried, tests.get(kind)) for kind, some in parts.items())


def _finding(
    kind: QueryClass,
    trials: Sequence[GridTrial],
    queries: int,
    choice: GridTrial,
    tried: Mapping[str, ConfigurationResult],
    test: Difference | None,
) -> ClassFinding:
    count = len(trials[0].values)
    shown = [trial for trial in trials if len(trial.configuration.members) == 1 or trial.configuration == choice.configuration]
    means = {trial.configuration.name: trial.mean for trial in shown}
    if test is None:
        few = f"fewer than {FEWEST}, too few to choose for them alone"
        return ClassFinding(kind.value, count, means, None, "all queries are of this class" if count == queries else few)
    if test.outcome is not Outcome.BETTER:
        served = f"the general choice is as good for them (a separate choice: {test.mean:+.3f}, held out)"
        return ClassFinding(kind.value, count, means, None, served)
    better = choose_configuration(trials)
    own = replace(tried[better.configuration.name], value=better.mean)
    return ClassFinding(
        kind.value, count, means, own, f"{verdict.use(own)}, {verdict.gain(test, 'held out', 'the general choice')}"
    )
