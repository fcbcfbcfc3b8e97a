"""The one look at the test queries: what was chosen on dev, its rivals, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexfuse.advice.choice import compare_configurations
from lexfuse.advice.findings import Confirmation
from lexfuse.advice.grid import GridTrial
from lexfuse.advice.judged_sources import JudgedSources
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.convex import Convex


def confirm_on_test(
    test: JudgedSources, choice: GridTrial, top: GridTrial, best_member: str, measures: Sequence[str], *, seed: int = 0
) -> Confirmation:
    """The choice on test queries, compared with its best member, equal weights, and the highest dev mean if that was another.

    >>> import numpy as np
    >>> from lexfuse.advice.findings import Configuration
    >>> from lexfuse.data.qrels import Qrels
    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fusion.union import union_of
    >>> union = union_of([Run.of("a", {"q": {"x": 2.0}, "r": {"y": 1.0}}), Run.of("b", {"q": {"y": 3.0}})])
    >>> choice = GridTrial(Configuration(("a",)), None, (1.0,), np.ones(2))
    >>> confirm_on_test(JudgedSources(union, Qrels.of([("q", "x", 1), ("r", "y", 1)])), choice, choice, "", ["RR"]).means
    {'RR': {'a': 1.0, 'b': 0.0}}
    """
    name, members = choice.configuration.name, choice.configuration.members
    runs = {run.name: run for run in test.singles()}
    rivals = {f"{best_member} alone": best_member} if best_member else {}
    for trial in (choice, top):
        called = trial.configuration.name
        runs.setdefault(called, test.fused(trial.configuration.members, trial.fusion, called))
    if top is not choice:
        rivals[top.configuration.name] = top.configuration.name
    if choice.tuned and isinstance(choice.fusion, Convex):
        equal = f"{' + '.join(members)}, equal weights"
        runs[equal] = test.fused(members, replace(choice.fusion, weights=None), equal)
        rivals["equal weights"] = equal
    found = {called: evaluate(test.qrels, run, " ".join(measures)) for called, run in runs.items()}
    means = {measure: {called: each.mean(measure) for called, each in found.items()} for measure in measures}
    ours = found[name].values(measures[0])
    versus = compare_configurations([(ours, found[rival].values(measures[0])) for rival in rivals.values()], seed=seed)
    return Confirmation(len(ours), means, dict(zip(rivals, versus, strict=True)))
