"""Distributions of scores: histograms that add up, on scales that sources share."""

import numpy as np
import pytest

from lexfuse.advice.evidence.score_distribution import BINS, score_distributions
from lexfuse.data.run import Run
from lexfuse.fusion.normalisation import MinMax, ZScore
from lexfuse.fusion.run_union import union_of


def union(rankings_of_b=None):
    chance = np.random.default_rng(3)
    queries = [f"q{number}" for number in range(5)]
    a = {query: {f"d{doc}": float(chance.gamma(2.0)) for doc in range(40)} for query in queries}
    b = {query: {f"d{doc}": float(chance.normal()) for doc in range(20, 60)} for query in queries}
    return union_of([Run.of("a", a), Run.of("b", b if rankings_of_b is None else rankings_of_b)])


def test_one_for_every_scale_and_source_in_order():
    found = score_distributions(union(), {"min-max": MinMax(), "z": ZScore()})
    assert [(one.scale, one.source) for one in found] == [
        ("raw", "a"), ("raw", "b"), ("min-max", "a"), ("min-max", "b"), ("z", "a"), ("z", "b"),
    ]  # fmt: skip


def test_shares_add_up_and_quantiles_are_those_of_the_true_scores():
    found = score_distributions(union(), {})
    for source, one in enumerate(found):
        row = union().scores[source]
        assert len(one.shares) == BINS
        assert len(one.edges) == BINS + 1
        assert sum(one.shares) == pytest.approx(1.0)
        assert one.quantiles == pytest.approx(np.nanquantile(row, [0.05, 0.25, 0.5, 0.75, 0.95]))
        counts, _ = np.histogram(row[~np.isnan(row)], one.edges)
        assert one.shares == pytest.approx(counts / counts.sum())


def test_sources_share_bins_on_a_normalised_scale_only():
    raw_a, raw_b, scaled_a, scaled_b = score_distributions(union(), {"min-max": MinMax()})
    assert scaled_a.edges == scaled_b.edges
    assert (scaled_a.edges[0], scaled_a.edges[-1]) == (0.0, 1.0)
    assert raw_a.edges != raw_b.edges


def test_a_far_outlier_counts_in_the_last_bin_instead_of_taking_all_others():
    scores = {f"d{doc}": doc / 999 for doc in range(1000)} | {"far": 1000.0}
    (one,) = score_distributions(union_of([Run.of("a", {"q": scores})]), {})
    assert one.edges[-1] < 1.0
    assert sum(one.shares) == pytest.approx(1.0)
    assert one.shares[-1] > one.shares[1]
    assert max(one.shares) < 0.1


def test_equal_scores_stand_in_one_bin():
    (one,) = score_distributions(union_of([Run.of("a", {"q": {"x": 2.0, "y": 2.0}})]), {})
    assert max(one.shares) == 1.0
    assert one.edges[0] < 2.0 < one.edges[-1]


def test_a_source_without_any_score_has_no_distribution():
    found = score_distributions(union({}), {"min-max": MinMax()})
    assert [(one.scale, one.source) for one in found] == [("raw", "a"), ("min-max", "a")]
