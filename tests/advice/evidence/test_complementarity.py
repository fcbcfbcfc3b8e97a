"""Complementarity: what is sampled, which corner it stands in, and who finds what."""

import math

import numpy as np
import pytest

from lexfuse.advice.evidence.complementarity import POINTS, complementarity
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.fusion.run_union import union_of


def drawn(queries=20, docs=60, relevant=3, sources=2):
    """Sources that know all documents; relevant ones score higher in all of them."""
    chance = np.random.default_rng(11)
    judged = {f"q{q}": {f"d{doc}" for doc in chance.choice(docs, relevant, replace=False)} for q in range(queries)}

    def ranking(wanted):
        return {f"d{doc}": chance.normal() + 2 * (f"d{doc}" in wanted) for doc in range(docs)}

    runs = [Run.of(f"s{source}", {query: ranking(wanted) for query, wanted in judged.items()}) for source in range(sources)]
    return runs, Qrels.of([(query, doc, 1) for query, wanted in judged.items() for doc in sorted(wanted)])


def test_relevant_pairs_and_as_many_others():
    runs, qrels = drawn()
    (found,) = complementarity(union_of(runs), qrels)
    relevant = [point for point in found.points if point[2]]
    assert (found.first, found.second) == ("s0", "s1")
    assert len(relevant) == len(qrels)
    assert len(found.points) == 2 * len(qrels)
    assert all(0 <= a <= 1 and 0 <= b <= 1 for a, b, _ in found.points)
    assert 0.2 < found.correlation < 0.9  # relevance moves both


def test_others_are_drawn_by_the_seed():
    runs, qrels = drawn()
    union = union_of(runs)
    assert complementarity(union, qrels, seed=4) == complementarity(union, qrels, seed=4)
    (one,), (two,) = complementarity(union, qrels, seed=4), complementarity(union, qrels, seed=5)
    assert [point for point in one.points if point[2]] == [point for point in two.points if point[2]]
    assert one.points != two.points


def test_every_pair_of_sources_looks_at_the_same_pairs():
    runs, qrels = drawn(sources=3)
    found = complementarity(union_of(runs), qrels)
    assert [(one.first, one.second) for one in found] == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    assert [point[0] for point in found[0].points] == [point[0] for point in found[1].points]
    assert [point[1] for point in found[1].points] == [point[1] for point in found[2].points]


def test_corners_are_counted_by_the_quartiles_of_all_candidates():
    runs, qrels = drawn()
    (found,) = complementarity(union_of(runs), qrels)
    (low_a, high_a), (low_b, high_b) = found.quartiles
    assert low_a < high_a
    inside = {
        "A": [point for point in found.points if point[0] >= high_a and point[1] <= low_b],
        "B": [point for point in found.points if point[0] <= low_a and point[1] >= high_b],
        "C": [point for point in found.points if point[0] >= high_a and point[1] >= high_b],
        "D": [point for point in found.points if point[0] <= low_a and point[1] <= low_b],
    }
    assert [(one.name, one.pairs, one.relevant) for one in found.regions] == [
        (name, len(points), sum(point[2] for point in points)) for name, points in inside.items()
    ]
    assert [one.words for one in found.regions] == ["s0 high, s1 low", "s0 low, s1 high", "both high", "both low"]


def test_who_finds_what_in_the_best():
    a = Run.of("a", {"q": {"w": 4.0, "x": 3.0, "y": 2.0}, "p": {"x": 1.0}, "unjudged": {"x": 1.0}})
    b = Run.of("b", {"q": {"x": 9.0, "z": 8.0, "w": 7.0}, "p": {}})
    judged = [("q", doc, 1) for doc in "wxyz"] + [("q", "v", 0), ("p", "x", 1), ("p", "nowhere", 1), ("asked of nobody", "x", 1)]
    (found,) = complementarity(union_of([a, b]), Qrels.of(judged), cutoff=2)
    assert (found.only_first, found.only_second, found.both, found.neither) == (2, 1, 1, 2)
    (deeper,) = complementarity(union_of([a, b]), Qrels.of(judged), cutoff=3)
    assert (deeper.only_first, deeper.only_second, deeper.both, deeper.neither) == (2, 1, 2, 1)


def test_what_a_file_does_not_list_counts_as_the_lowest():
    a, b = Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0, "z": 5.0, "w": 7.0}})
    (found,) = complementarity(union_of([a, b]), Qrels.of([("q", "x", 1)]))
    assert (1.0, 0.0, True) in found.points


def test_where_all_candidates_are_relevant_none_comes_twice():
    run = Run.of("a", {"q": {"x": 2.0, "y": 1.0}})
    (found,) = complementarity(union_of([run, Run.of("b", {"q": {"x": 1.0}})]), Qrels.of([("q", "x", 1), ("q", "y", 1)]))
    assert found.points == ((1.0, 0.5, True), (0.0, 0.5, True))


def test_a_source_that_says_nothing_has_no_correlation():
    runs, qrels = drawn()
    (found,) = complementarity(union_of([runs[0], Run.of("empty", {})]), qrels)
    assert math.isnan(found.correlation)
    assert (found.only_second, found.both) == (0, 0)


def test_points_are_limited_and_half_of_them_relevant():
    runs, qrels = drawn(queries=120, relevant=10)
    (found,) = complementarity(union_of(runs), qrels)
    assert len(found.points) == POINTS
    assert sum(point[2] for point in found.points) == POINTS // 2
    assert sum(one.pairs for one in found.regions) > 0.5 * POINTS  # counted over all 2,400 pairs


def test_one_source_has_no_pair():
    runs, qrels = drawn()
    assert complementarity(union_of(runs[:1]), qrels) == ()


def test_nothing_relevant_and_no_cutoff_are_refused():
    runs, qrels = drawn()
    with pytest.raises(DataError, match="none of the 20 queries has a relevant document"):
        complementarity(union_of(runs), Qrels.of([("elsewhere", "d1", 1), ("q1", "d1", 0)]))
    with pytest.raises(ConfigError, match="cutoff must be at least 1"):
        complementarity(union_of(runs), qrels, cutoff=0)
