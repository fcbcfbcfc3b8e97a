"""Length bias: the mean over queries of a correlation that scipy agrees with."""

import math

import numpy as np
import pytest
from scipy import stats

from lexfuse.advice.evidence.length_bias import length_bias, length_bins
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError


def drawn():
    chance = np.random.default_rng(5)
    run = Run.of("bm25", {f"q{q}": {f"d{doc:02}": float(chance.normal()) for doc in range(30)} for q in range(8)})
    return run, chance.integers(10, 500, len(run.docs))


def test_the_mean_of_the_correlations_of_the_first_ranks():
    run, lengths = drawn()
    found = length_bias("bm25", run, lengths, Qrels.of([("q0", "d00", 1)]), cutoff=12)
    per_query = []
    for query in run.queries:
        hits = run.hits(query)[:12]
        of_hits = [lengths[run.docs.ordinal(hit.doc)] for hit in hits]
        per_query.append(stats.pearsonr([hit.score for hit in hits], of_hits).statistic)
    assert found.pearson == pytest.approx(np.mean(per_query), abs=1e-6)
    assert found.p == pytest.approx(stats.ttest_1samp(per_query, 0.0).pvalue, rel=1e-5)
    assert found.queries == 8


def test_mean_lengths_of_the_top_of_all_and_of_the_relevant():
    scores = {f"d{doc:02}": 100.0 - doc for doc in range(12)}
    run = Run.of("x", {"q": scores, "p": scores})
    lengths = np.arange(12) * 10
    judged = [("q", "d01", 1), ("q", "d02", 2), ("q", "d03", 0), ("p", "d01", 1), ("q", "unknown", 1), ("other", "d11", 1)]
    found = length_bias("x", run, lengths, Qrels.of(judged))
    assert found.mean_length_top == 45.0
    assert found.mean_length_all == 55.0
    assert found.mean_length_relevant == pytest.approx((10 + 20 + 10) / 3)
    assert found.pearson == pytest.approx(-1.0)


def test_rankings_without_a_correlation_are_left_out():
    run = Run.of(
        "x", {"short": {"a": 2.0, "b": 1.0}, "level": {"a": 1.0, "b": 1.0, "c": 1.0}, "q": {"a": 1.0, "b": 2.0, "c": 4.0}}
    )
    found = length_bias("x", run, np.array([3, 2, 1]), Qrels.of([("q", "a", 0)]))
    assert found.queries == 1
    assert found.pearson < -0.9
    assert math.isnan(found.p)
    assert math.isnan(found.mean_length_relevant)


def test_an_empty_run_has_no_correlation():
    found = length_bias("x", Run.of("x", {}), np.zeros(0, dtype=np.int64), Qrels.of([("q", "a", 1)]))
    assert math.isnan(found.pearson)
    assert found.queries == 0


def test_lengths_of_other_documents_are_refused():
    run, lengths = drawn()
    with pytest.raises(ConfigError, match="knows 30 documents, got 29 lengths"):
        length_bias("x", run, lengths[1:], Qrels.of([("q0", "d00", 1)]))
    with pytest.raises(ConfigError, match="cutoff"):
        length_bias("x", run, lengths, Qrels.of([("q0", "d00", 1)]), cutoff=2)


def test_rates_by_length_are_conditional_probabilities():
    """Retrieved pairs of a bin per document, over the same of all documents; the mean over documents is 1."""
    run, lengths = drawn()
    judged = Qrels.of([(f"q{at}", f"d{at:02}", 1) for at in range(8)])
    bins = length_bias("bm25", run, lengths, judged).bins
    assert sum(each.documents for each in bins) == len(lengths)
    assert [each.words for each in bins] == sorted(each.words for each in bins)
    hits = [lengths[run.docs.ordinal(hit.doc)] for query in run.queries for hit in run.hits(query)[:10]]
    shortest = sorted(lengths)[: bins[0].documents]
    counted = sum(length in shortest for length in hits)
    assert bins[0].retrieved == pytest.approx(counted / bins[0].documents / (len(hits) / len(lengths)))
    for rate in ("retrieved", "relevant"):
        assert sum(getattr(each, rate) * each.documents for each in bins) / len(lengths) == pytest.approx(1.0)


def test_documents_of_one_length_are_one_bin():
    (only,) = length_bins(np.full(9, 7), np.array([7]), np.array([7, 7]))
    assert (only.words, only.documents, only.retrieved, only.relevant) == (7.0, 9, 1.0, 1.0)
    assert length_bins(np.full(9, 7), np.array([7]), np.zeros(0, dtype=np.int64)) == ()
