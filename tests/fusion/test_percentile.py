"""Percentile normalisation: the share of lower scores, by the index's frozen distribution or, for files, by the run."""

from dataclasses import replace

import numpy as np
import pytest

from lexfuse.channels.distribution import SHARES, ScoreLevels
from lexfuse.data.run import Run
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import Percentile
from lexfuse.fusion.registry import fusion_of
from lexfuse.fusion.run_union import union_of


def random_run(name, seed, queries=5, docs=40):
    chance = np.random.default_rng(seed)
    return Run.of(name, {f"q{q}": {f"d{d}": float(chance.integers(0, 25)) for d in range(docs)} for q in range(queries)})


def test_levels_know_the_share_of_lower_scores():
    scores = np.random.default_rng(1).exponential(size=20_000).astype(np.float32)
    found = ScoreLevels.of(scores).below(scores[:500].astype(np.float64))
    assert found == pytest.approx([(scores < score).mean() for score in scores[:500]], abs=1.1e-3)


def test_the_best_scores_are_told_apart_a_thousand_times_finer():
    scores = np.arange(1_000_000, dtype=np.float32)
    top = np.arange(999_500.0, 1_000_000.0)
    assert ScoreLevels.of(scores).below(top) == pytest.approx(top / 1_000_000, abs=2e-6)
    assert len(SHARES) == len(set(SHARES.tolist())) == 2000
    assert (SHARES[0], SHARES[-1]) == (0.0, 1.0)


def test_what_many_share_is_above_nothing_and_what_little_is_more_is_above_all_of_them():
    levels = ScoreLevels.of(np.concatenate([np.zeros(9_000, np.float32), np.linspace(1, 2, 1_000, dtype=np.float32)]))
    assert levels.below(np.array([0.0])).tolist() == [0.0]
    assert levels.below(np.array([1e-6, 1.0, 1.5, 3.0])) == pytest.approx([0.9, 0.9, 0.95, 1.0], abs=2e-3)


def test_a_distribution_without_spread_tells_only_higher_from_not_higher():
    for levels in (ScoreLevels.of(np.zeros(50, np.float32)), ScoreLevels.of(np.empty(0, np.float32))):
        assert levels.below(np.array([-1.0, 0.0, 0.25, 1.0])).tolist() == [0.0, 0.0, 1.0, 1.0]


def test_for_files_it_is_the_share_within_the_whole_run():
    runs = [random_run("a", 2), random_run("b", 3)]
    union = union_of(runs)
    for source, run in enumerate(runs):
        expected = [(run.score < score).mean() for score in union.scores[source]]
        assert Percentile().of(union, source) == pytest.approx(expected, abs=1.1e-3)


def test_blocks_of_queries_and_some_of_the_sources_keep_the_distribution():
    union = union_of([random_run("a", 2), random_run("b", 3), random_run("c", 4)])
    whole = Percentile().of(union, 2)
    assert Percentile().of(union.only([0, 2]), 1).tolist() == whole.tolist()
    start, stop = int(union.offsets[3]), int(union.offsets[4])
    assert Percentile().of(union.of_query(3), 2).tolist() == whole[start:stop].tolist()


def test_frozen_levels_take_the_place_of_those_of_the_run():
    run = Run.of("a", {"q": {"x": 4.0, "y": 1.0}})
    frozen = ScoreLevels(np.array([0.0, 2.0, 8.0]), np.array([0.0, 0.5, 1.0]))
    union = replace(union_of([run]), levels=(lambda: frozen,))
    assert Percentile().of(union, 0) == pytest.approx([0.5 + 0.5 * 2 / 6, 0.25])


def test_it_has_a_name():
    assert fusion_of({"method": "convex", "normalisers": "percentile"}) == Convex(normalisers=Percentile())
