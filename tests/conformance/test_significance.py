"""Tests and corrections against scipy and statsmodels."""

import numpy as np
import pytest
from scipy import stats

from lexfuse.evaluation.significance import adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest


def paired_values(seed, n, zeros=0):
    generator = np.random.default_rng(seed)
    second = generator.random(n)
    first = second + generator.normal(0.03, 0.1, n)
    first[:zeros] = second[:zeros]
    return first, second


@pytest.mark.parametrize("n", [2, 5, 30, 400])
@pytest.mark.parametrize("seed", range(5))
def test_t_equals_scipy(seed, n):
    first, second = paired_values(seed, n)
    ours, theirs = paired_test(PairedTest.T, first, second), stats.ttest_rel(first, second)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-7)


@pytest.mark.parametrize(("n", "zeros"), [(5, 0), (8, 3), (30, 0), (30, 10), (49, 0), (400, 100)])
@pytest.mark.parametrize("seed", range(3))
def test_wilcoxon_equals_scipy(seed, n, zeros):
    first, second = paired_values(seed, n, zeros)
    ours, theirs = paired_test(PairedTest.WILCOXON, first, second), stats.wilcoxon(first, second)
    assert (ours.p, ours.statistic) == pytest.approx((theirs.pvalue, theirs.statistic), abs=1e-9)


@pytest.mark.parametrize("n", [2, 6, 12])
def test_exact_randomisation_equals_scipy_permutation(n):
    first, second = paired_values(3, n)
    theirs = stats.permutation_test((first - second,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert paired_test(PairedTest.RANDOMISATION, first, second).p == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize(("correction", "method"), [(Correction.HOLM, "holm"), (Correction.BONFERRONI, "bonferroni")])
@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_corrections_equal_statsmodels(correction, method, n):
    generator = np.random.default_rng(n)
    p = np.round(generator.random(n) ** 3, 2)  # rounded: equal p-values occur
    from statsmodels.stats.multitest import multipletests  # with pandas: not in every worker

    np.testing.assert_allclose(adjust_p_values(p, correction), multipletests(p, method=method)[1], atol=1e-12)
