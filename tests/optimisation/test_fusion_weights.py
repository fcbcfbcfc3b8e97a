"""Tuned weights: the search, the folds, and what is said about it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMNZ
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import TheoreticalMinMax
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation.cross_validation import cross_validated, folds_of
from lexfuse.optimisation.exact_weight import Plateau
from lexfuse.optimisation.fusion_constants import cut_depth, depth_trials, eta_trials, tune_constants
from lexfuse.optimisation.fusion_weights import tune_weights
from lexfuse.optimisation.weight_choice import affordable, round_alpha
from lexfuse.optimisation.weight_surface import simplex, surface_of


def judged(noises, queries=40, docs=60, seed=0, relevant=4):
    """Sources that know the truth as well as their noise lets them, and the truth."""
    chance = np.random.default_rng(seed)
    runs = [dict[str, dict[str, float]]() for _ in noises]
    rows = []
    for query in range(queries):
        good = set(chance.choice(docs, relevant, replace=False).tolist())
        rows += [(f"q{query}", f"d{doc}", 1 + int(chance.integers(0, 2))) for doc in sorted(good)]
        for run, noise in zip(runs, noises, strict=True):
            scores = {f"d{doc}": float((doc in good) + noise * chance.random()) for doc in range(docs)}
            run[f"q{query}"] = dict(sorted(scores.items(), key=lambda item: -item[1])[:30])
    return union_of([Run.of(f"s{at}", run).bounded(-9.0) for at, run in enumerate(runs)]), Qrels.of(rows)


@pytest.mark.parametrize("fusion", [Convex(), TM2C2(), ReciprocalRank(5.0), SmoothReciprocalRank()], ids=lambda one: one.name)
@pytest.mark.parametrize("sources", [2, 3])
def test_the_tuned_fusion_gives_the_value_that_is_told(fusion, sources):
    union, qrels = judged((1.5, 2.0, 3.0)[:sources])
    tuned = tune_weights(union, fusion, qrels, "nDCG@10", folds=3)
    found = evaluate(qrels, tuned.fusion.fused(union, 1000), "nDCG@10").mean("nDCG@10")
    assert found == pytest.approx(tuned.value, abs=1e-6)
    assert tuned.value >= tuned.surface.means.max() - 1e-9
    assert tuned.value >= tuned.equal.mean() - 1e-9
    assert tuned.oracle >= tuned.value - 1e-9
    assert sum(tuned.weights) == pytest.approx(1)
    assert tuned.fusion.source_weights(sources).tolist() == pytest.approx(tuned.weights)


def test_two_sources_are_exact():
    union, qrels = judged((1.6, 2.0))
    tuned = tune_weights(union, Convex(), qrels, "nDCG@10")
    fine = surface_of(union, Convex(), qrels, "nDCG@10", simplex(2, 0.001))
    assert tuned.value >= fine.means.max() - 1e-12
    assert tuned.plateau.low < tuned.weights[1] < tuned.plateau.high
    inside = fine.means[(fine.weights[:, 1] > tuned.plateau.low) & (fine.weights[:, 1] < tuned.plateau.high)]
    assert inside == pytest.approx(np.full(len(inside), tuned.value), abs=1e-12)


def test_a_held_out_query_has_no_say():
    """Judgements of one fold are turned round: what is chosen for this fold stays the same."""
    union, qrels = judged((1.5, 2.5, 3.5))
    before = tune_weights(union, Convex(), qrels, "nDCG@10").held_out
    mine = {name for name, fold in zip(before.queries, before.fold.tolist(), strict=True) if fold == 0}
    turned = Qrels.of(
        [(query, "d1", 1) if query in mine else (query, doc, grade)
         for query in qrels.queries
         for doc, grade in list(qrels.judged(query).items())[: 1 if query in mine else None]]
    )  # fmt: skip
    after = tune_weights(union, Convex(), turned, "nDCG@10").held_out
    assert after.queries == before.queries
    assert after.weights[0].tolist() == before.weights[0].tolist()
    assert after.values.tolist() != before.values.tolist()


def test_folds_do_not_depend_on_the_order_and_are_even():
    names = [f"q{n}" for n in range(23)]
    folds = folds_of(names, 5, seed=1)
    assert sorted(np.bincount(folds).tolist()) == [4, 4, 5, 5, 5]
    turned = folds_of(names[::-1], 5, seed=1)
    assert turned[::-1].tolist() == folds.tolist()
    assert folds_of(names, 5, seed=2).tolist() != folds.tolist()
    with pytest.raises(ConfigError, match="5 folds need at least 5 queries with a relevant document, got 3"):
        folds_of(names[:3], 5)
    with pytest.raises(ConfigError, match="at least 2 folds, got 1"):
        folds_of(names, 1)


def test_cross_validation_of_a_surface_chooses_outside_of_the_fold():
    union, qrels = judged((1.5, 2.0))
    surface = surface_of(union, Convex(), qrels, "nDCG@10", simplex(2, 0.1))
    found = cross_validated(surface, 4, seed=3)
    for fold, point in enumerate(found.points.tolist()):
        assert surface.on(np.flatnonzero(found.fold != fold)).best == point
        mine = np.flatnonzero(found.fold == fold)
        assert found.values[mine].tolist() == surface.values[point, mine].tolist()
    assert found.weights.tolist() == surface.weights[found.points].tolist()
    assert found.mean == pytest.approx(found.values.mean())


def test_words_when_nothing_can_be_told_and_when_it_can():
    union, qrels = judged((1.5, 1.5), queries=12)
    same = tune_weights(union, Convex(), qrels, "nDCG@10")
    assert not same.distinguishable
    assert "not distinguishable from equal weights" in same.words()
    union, qrels = judged((1.2, 40.0), queries=60)
    far = tune_weights(union, Convex(), qrels, "nDCG@10")
    assert far.distinguishable
    assert far.versus_equal.mean > 0
    assert "better than equal weights" in far.words()
    assert far.weights[0] > 0.7


def test_many_sources_get_a_coarser_first_grid_and_say_so():
    union, qrels = judged((1.5, 2.0, 2.5, 3.0, 3.5, 4.0), queries=10)
    tuned = tune_weights(union, Convex(), qrels, "nDCG@10")
    assert (tuned.step, len(tuned.surface.weights)) == (0.125, 1287)
    assert "steps of 0.125, not 0.05" in tuned.words()
    assert affordable(3, 0.05) == 0.05


def test_json_has_the_curve_with_its_band():
    union, qrels = judged((1.5, 2.0), queries=10)
    found = tune_weights(union, Convex(), qrels, "nDCG@10", step=0.5).as_json()
    assert found["surface"]["weights"] == [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    assert [len(pair) for pair in found["surface"]["band"]] == [2, 2, 2]
    assert list(found["held_out"]["values"]) == [f"q{n}" for n in range(10)]


def test_the_same_twice():
    union, qrels = judged((1.5, 2.0, 2.5))
    first, second = (tune_weights(union, Convex(), qrels, "nDCG@10").as_json() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("fusion", [Borda(), CombMNZ()], ids=lambda one: one.name)
def test_fusions_without_weights_are_refused(fusion):
    union, qrels = judged((1.5, 2.0), queries=10)
    with pytest.raises(ConfigError, match="has no weights; take convex, tm2c2, rrf or srrf"):
        tune_weights(union, fusion, qrels, "nDCG@10")


def test_tm2c2_becomes_the_convex_combination_it_is():
    union, qrels = judged((1.5, 2.0), queries=10)
    tuned = tune_weights(union, TM2C2(), qrels, "nDCG@10")
    assert tuned.fusion == Convex(tuned.weights, TheoreticalMinMax())


def test_rounding_stays_in_the_middle_half():
    for low, high in ((0.0, 1.0), (0.31, 0.32), (0.123456, 0.123457), (0.9999, 1.0)):
        alpha = round_alpha(Plateau(low, high, 0.0))
        assert low + (high - low) / 4 <= alpha <= high - (high - low) / 4


def test_constants_are_chosen_with_their_weights():
    union, qrels = judged((1.5, 2.5))
    trials = list(eta_trials(union, ReciprocalRank(), [1, 60], each=True))
    tuned = tune_constants(trials, qrels, "nDCG@10", step=0.25)
    each = [tune_weights(union, trial.fusion, qrels, "nDCG@10", step=0.25) for trial in trials]
    assert tuned.values == pytest.approx([one.surface.means.max() for one in each])
    assert tuned.tuned.weights == each[tuned.best].weights
    assert set(tuned.chosen) <= set(tuned.trials)
    assert tuned.held_out.mean <= max(tuned.values) + 1e-9
    assert tuned.trials[tuned.best] in tuned.words()
    with pytest.raises(ConfigError, match="nothing to try"):
        tune_constants([], qrels, "RR")
    with pytest.raises(ConfigError, match="rrf has no beta"):
        list(eta_trials(union, ReciprocalRank(), [1], [40]))


def test_cutting_a_union_set_is_the_union_of_cut_runs():
    chance = np.random.default_rng(0)
    scores = [{f"q{q}": {f"d{d}": float(chance.random()) for d in range(9)} for q in range(3)} for _ in range(2)]
    whole = union_of([Run.of(f"s{at}", one) for at, one in enumerate(scores)])
    top = [{query: dict(sorted(docs.items(), key=lambda item: -item[1])[:4]) for query, docs in one.items()} for one in scores]
    expected = union_of([Run.of(f"s{at}", one) for at, one in enumerate(top)])
    found = cut_depth(whole, 4)
    assert sorted(found.doc_names()) == sorted(expected.doc_names())
    fused = [ReciprocalRank().fused(one, 100).as_dict() for one in (found, expected)]
    assert fused[0] == fused[1]
    asked = cut_depth(replace(whole, asked=(True, True)), 4)
    assert asked.known.all()  # who can be asked knows the score still
    assert not found.known.all()
    assert [trial.name for trial in depth_trials(whole, Convex(), [4, 9])] == ["depth 4", "depth 9"]
    with pytest.raises(ConfigError, match="depth must be at least 1"):
        cut_depth(whole, 0)


def tune_eta(union, etas, *, qrels, each=False, **how):
    trials, usual = eta_trials(union, ReciprocalRank(), etas, each=each), next(eta_trials(union, ReciprocalRank(), []))
    return tune_constants(trials, qrels, "nDCG@10", usual=usual, **{"with_weights": False, **how})


@pytest.mark.parametrize("each", [False, True])
def test_eta_is_tuned_at_equal_weights_as_bruch_does(each):
    union, qrels = judged((1.4, 2.2))
    etas = [2, 10, 60]
    tuned = tune_eta(union, etas, qrels=qrels, each=each)
    grid = list(product(etas, repeat=2)) if each else [(eta, eta) for eta in etas]
    expected = [evaluate(qrels, ReciprocalRank(eta).fused(union, 1000), "nDCG@10").mean("nDCG@10") for eta in grid]
    assert tuned.values == pytest.approx(expected, abs=1e-12)
    assert tuned.tuned is None
    assert np.broadcast_to(tuned.fusion.eta, 2).tolist() == list(grid[int(np.argmax(expected))])
    assert tuned.fusion.source_weights(2).tolist() == [1.0, 1.0]
    assert tuned.value == max(tuned.values)
    usual = evaluate(qrels, ReciprocalRank().fused(union, 1000), "nDCG@10")
    assert tuned.usual == ("eta 60", pytest.approx(usual.mean("nDCG@10"), abs=1e-12))
    gained = tuned.held_out.values - usual.values("nDCG@10")
    assert tuned.versus_usual.mean == pytest.approx(gained.mean(), abs=1e-12)
    assert "at equal weights" in tuned.words()
    assert "eta 60" in tuned.words()
    assert tuned.as_json()["weights"] == "equal"


def test_eta_with_weights_is_asked_for_by_name():
    union, qrels = judged((1.4, 2.2))
    equal = tune_eta(union, [5, 60], qrels=qrels)
    both = tune_eta(union, [5, 60], qrels=qrels, with_weights=True)
    assert both.value >= equal.value
    assert both.tuned is not None
    assert both.fusion.source_weights(2).tolist() == pytest.approx(list(both.tuned.weights))
    assert "with the weights" in both.words()


def test_held_out_values_of_eta_know_nothing_of_their_fold():
    union, qrels = judged((1.4, 2.2))
    tuned = tune_eta(union, [2, 10, 60], qrels=qrels, each=True, seed=4)
    values = [
        evaluate(qrels, ReciprocalRank(eta).fused(union, 1000), "nDCG@10").values("nDCG@10")
        for eta in product([2, 10, 60], repeat=2)
    ]
    for fold in range(5):
        outside = [found[tuned.held_out.fold != fold].mean() for found in values]
        here = tuned.held_out.fold == fold
        assert tuned.held_out.values[here].tolist() == values[int(np.argmax(outside))][here].tolist()
