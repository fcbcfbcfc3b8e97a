import math

import numpy as np
import pytest
from scipy import stats

from lexfuse.errors import ConfigError
from lexfuse.evaluation.significance import differences, effect_size, paired_test
from lexfuse.evaluation.significance_options import PairedTest


@pytest.mark.parametrize("test", PairedTest)
def test_no_difference_gives_p_one_and_a_note(test):
    values = np.linspace(0, 1, 20)
    result = paired_test(test, values, values)
    assert (result.p, result.statistic, result.queries, result.note) == (1.0, 0.0, 20, "no query differs")


@pytest.mark.parametrize("test", PairedTest)
@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_queries(test, n):
    with pytest.raises(ConfigError, match=f"at least 2 queries, got {n}"):
        paired_test(test, [0.5] * n, [0.1] * n)


@pytest.mark.parametrize("test", PairedTest)
def test_swapping_the_runs_keeps_p(test):
    generator = np.random.default_rng(0)
    first, second = generator.random((2, 30))
    assert paired_test(test, first, second).p == pytest.approx(paired_test(test, second, first).p, abs=1e-12)


@pytest.mark.parametrize("test", PairedTest)
def test_a_clear_effect_is_found(test):
    generator = np.random.default_rng(0)
    second = generator.random(60)
    assert paired_test(test, second + generator.normal(0.2, 0.1, 60), second).p < 0.001


def test_all_queries_differ_by_the_same_amount():
    result = paired_test(PairedTest.T, [0.3, 0.4, 0.5], [0.1, 0.2, 0.3])
    assert (result.p, result.statistic, result.note) == (0.0, math.inf, "all queries differ by the same amount")
    assert paired_test(PairedTest.RANDOMISATION, [0.3, 0.4, 0.5], [0.1, 0.2, 0.3]).p == 0.25


@pytest.mark.parametrize(("first", "second"), [([0.1, 0.2], [0.1]), ([[0.1, 0.2]], [[0.1, 0.3]])])
def test_values_that_are_not_aligned(first, second):
    with pytest.raises(ConfigError, match="align them by query"):
        paired_test(PairedTest.T, first, second)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_that_are_no_numbers(bad):
    with pytest.raises(ConfigError, match="finite"):
        paired_test(PairedTest.T, [0.1, bad], [0.1, 0.2])


def test_noise_in_the_last_bit_is_no_difference():
    assert differences(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25])).tolist() == [0.0, 0.25]


def test_exact_enumeration_by_hand():
    """Sums of ±1 ±2 ±3 ±4: 10 and -10 are the only ones as large as 10."""
    result = paired_test(PairedTest.RANDOMISATION, [1.0, 2.0, 3.0, 4.0], [0.0] * 4)
    assert (result.p, result.note) == (2 / 16, "exact: all 16 sign flips")


def test_queries_that_do_not_differ_change_no_randomisation_p():
    alone = paired_test(PairedTest.RANDOMISATION, [1.0, 2.0, 3.0], [0.0] * 3)
    among = paired_test(PairedTest.RANDOMISATION, [1.0, 2.0, 3.0] + [0.5] * 100, [0.0] * 3 + [0.5] * 100)
    assert alone.p == among.p


def test_sampling_is_seeded_and_never_zero():
    generator = np.random.default_rng(0)
    second = generator.random(40)
    first = second + 0.3 + generator.normal(0, 0.01, 40)
    result = paired_test(PairedTest.RANDOMISATION, first, second, samples=999, seed=1)
    assert result.p == 1 / 1000
    weak = second + generator.normal(0.01, 0.1, 40)
    once, again, other = (paired_test(PairedTest.RANDOMISATION, weak, second, seed=seed).p for seed in (1, 1, 2))
    assert once == again != other
    assert once == pytest.approx(other, abs=0.03)


def test_sampling_agrees_with_enumeration():
    """15 differences are sampled, 32,768 flips can still be counted here."""
    generator = np.random.default_rng(5)
    difference = generator.normal(0.05, 0.1, 15)
    signs = 1 - 2 * ((np.arange(2**15)[:, None] >> np.arange(15)) & 1)
    exact = np.mean(np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12)
    assert paired_test(PairedTest.RANDOMISATION, difference, np.zeros(15)).p == pytest.approx(exact, abs=0.02)


def test_sampling_in_several_blocks():
    generator = np.random.default_rng(5)
    difference = generator.normal(0.002, 0.1, 3000)
    ours = paired_test(PairedTest.RANDOMISATION, difference, np.zeros(3000), samples=2000).p
    assert ours == pytest.approx(paired_test(PairedTest.T, difference, np.zeros(3000)).p, abs=0.04)


def test_no_samples():
    with pytest.raises(ConfigError, match="at least 1 sample"):
        paired_test(PairedTest.RANDOMISATION, [0.1, 0.2], [0.2, 0.4], samples=0)


@pytest.mark.parametrize("n", [10, 40])
def test_randomisation_is_uniform_under_the_null(n):
    """A test of the test: with no true difference p-values spread evenly; skewed, heavy-tailed values included."""
    generator = np.random.default_rng(n)
    p_values = []
    for _ in range(400):
        first, second = generator.exponential(size=(2, n)) ** 2
        p_values.append(paired_test(PairedTest.RANDOMISATION, first, second, samples=499).p)
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.09


def test_randomisation_has_power():
    generator = np.random.default_rng(0)
    found = 0
    for _ in range(100):
        difference = generator.normal(0.5, 1.0, 50)  # the t-test finds such an effect in about 94 of 100
        found += paired_test(PairedTest.RANDOMISATION, difference, np.zeros(50), samples=499).p <= 0.05
    assert found >= 85


def test_effect_size():
    difference = np.array([0.1, 0.3, -0.1, 0.2])
    assert effect_size(difference) == pytest.approx(difference.mean() / difference.std(ddof=1))
    assert effect_size(np.zeros(4)) == 0.0
    assert effect_size(np.array([0.5, -0.5])) == 0.0
    assert effect_size(np.full(7, 0.1)) == math.inf
