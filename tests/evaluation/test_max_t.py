"""Max-T: one test alone is a randomisation test, equal tests cost nothing, and chance findings are rare in the whole family."""

import numpy as np
import pytest

from lexfuse.errors import ConfigError
from lexfuse.evaluation.significance import adjust_max_t, adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest


def noise(seed, rows, queries):
    return np.random.default_rng(seed).normal(size=(rows, queries))


def test_one_test_alone_is_the_randomisation_test():
    for seed in range(5):
        column = noise(seed, 1, 40)[0] + 0.25
        alone = paired_test(PairedTest.RANDOMISATION, column, np.zeros(40)).p
        assert adjust_max_t([column])[0] == pytest.approx(alone, abs=0.02)


def test_tests_that_repeat_each_other_cost_nothing():
    column = noise(0, 1, 60)[0] + 0.4
    alone = adjust_max_t([column])[0]
    assert adjust_max_t([column] * 200).tolist() == [alone] * 200
    p = paired_test(PairedTest.T, column, np.zeros(60)).p
    assert adjust_p_values([p] * 200, Correction.HOLM)[0] > 10 * alone


def test_independent_tests_are_corrected_about_as_much_as_by_holm():
    table = noise(1, 20, 80)
    table[0] += 0.45
    p = [paired_test(PairedTest.T, row, np.zeros(80)).p for row in table]
    assert adjust_max_t(list(table))[0] == pytest.approx(adjust_p_values(p, Correction.HOLM)[0], abs=0.02)


def test_chance_findings_are_rare_in_the_whole_family():
    families = [adjust_max_t(list(noise(seed, 30, 25)), samples=400, seed=seed) for seed in range(200)]
    assert np.mean([(family < 0.05).any() for family in families]) < 0.1


def test_no_difference_is_no_finding_and_a_constant_one_is():
    found = adjust_max_t([np.zeros(30), np.full(30, 0.1)])
    assert found[0] == 1.0
    assert found[1] < 0.001


def test_the_sign_does_not_matter():
    table = noise(3, 4, 30) + 0.3
    assert adjust_max_t(list(table)).tolist() == adjust_max_t(list(-table)).tolist()


def test_one_query_is_too_few():
    with pytest.raises(ConfigError, match="at least 2 queries"):
        adjust_max_t([np.array([0.1])])
    assert len(adjust_max_t([])) == 0
