"""The step function of a measure over alpha equals evaluating any alpha."""

import numpy as np
import pytest

from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation import exact_weight
from lexfuse.optimisation.exact_weight import exact_curve
from lexfuse.optimisation.weight_evaluator import WeightEvaluator


def evaluator_of(measure, *, ties, seed=0, sources=2, queries=7, docs=40):
    chance = np.random.default_rng(seed)

    def score():
        return float(chance.integers(0, 5)) if ties else float(chance.random())

    runs = [
        Run.of(f"s{s}", {f"q{q}": {f"d{d}": score() for d in chance.choice(docs, 20, replace=False)} for q in range(queries)})
        for s in range(sources)
    ]
    rows = [(f"q{q}", f"d{d}", int(chance.integers(0, 3))) for q in range(queries) for d in chance.choice(docs, 8, replace=False)]
    union = union_of(runs)
    return WeightEvaluator.of_fusion(union, Convex(), Qrels.of(rows), measure)


def at(curve, alpha):
    """The values of all queries at an alpha that is no crossing."""
    found = curve.begin.copy()
    before = curve.alphas < alpha
    np.add.at(found, curve.query[before], curve.steps[before])
    return found


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("measure", ["nDCG@5", "nDCG", "R@3", "RR", "AP@10", "Rprec", "macroMPR"])
def test_between_the_steps_it_is_what_evaluating_gives(measure, ties):
    evaluator = evaluator_of(measure, ties=ties)
    curve = exact_curve(evaluator)
    ends = np.unique(np.concatenate(([0.0], curve.alphas, [1.0])))
    middles = ((ends[1:] + ends[:-1]) / 2)[np.diff(ends) > 1e-5]
    assert len(middles) > 4
    values = evaluator.at(np.column_stack([1 - middles, middles]))
    for alpha, row in zip(middles.tolist(), values, strict=True):
        assert at(curve, alpha) == pytest.approx(row, abs=1e-12)


def test_many_steps_are_worked_on_in_blocks(monkeypatch):
    evaluator = evaluator_of("AP", ties=True)
    whole = exact_curve(evaluator)
    monkeypatch.setattr(exact_weight, "_CELLS", 20)
    parts = exact_curve(evaluator)
    assert len(whole.alphas) > 20
    assert parts.alphas.tolist() == whole.alphas.tolist()
    assert parts.steps == pytest.approx(whole.steps, abs=1e-12)


def test_no_alpha_is_better_than_the_best_plateau():
    evaluator = evaluator_of("nDCG@10", ties=False, seed=3, queries=20)
    curve = exact_curve(evaluator)
    best = curve.best()
    alphas = np.linspace(0.0005, 0.9995, 1000)
    means = evaluator.at(np.column_stack([1 - alphas, alphas])).mean(axis=1)
    assert best.value >= means.max() - 1e-12
    middle = evaluator.at(np.array([[1 - best.middle, best.middle]]))
    assert middle.mean() == pytest.approx(best.value, abs=1e-12)
    assert curve.highest.mean() >= best.value


def test_some_of_the_queries():
    evaluator = evaluator_of("nDCG@10", ties=False, seed=4)
    curve = exact_curve(evaluator)
    some = np.array([0, 3])
    best = curve.best(some)
    assert evaluator.at(np.array([[1 - best.middle, best.middle]]))[0, some].mean() == pytest.approx(best.value, abs=1e-12)


def test_a_measure_that_never_changes_has_one_plateau():
    runs = [Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"x": 9.0, "y": 1.0}})]
    union = union_of(runs)
    curve = exact_curve(WeightEvaluator.of_fusion(union, Convex(), Qrels.of([("q", "x", 1)]), "RR"))
    best = curve.best()
    assert (best.low, best.high, best.value, best.middle) == (0.0, 1.0, 1.0, 0.5)


def test_two_sources_only():
    with pytest.raises(ConfigError, match="two sources, got 3"):
        exact_curve(evaluator_of("RR", ties=False, sources=3))
