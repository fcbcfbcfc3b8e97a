import numpy as np
import pytest

from lexfuse.errors import ConfigError
from lexfuse.evaluation.significance import adjust_p_values
from lexfuse.evaluation.significance_options import Correction


def test_none_changes_nothing():
    assert adjust_p_values([0.5, 0.1], Correction.NONE).tolist() == [0.5, 0.1]


@pytest.mark.parametrize("correction", Correction)
def test_no_tests_at_all(correction):
    assert adjust_p_values([], correction).tolist() == []


def test_holm_finds_at_least_what_bonferroni_finds():
    p = np.random.default_rng(0).random(30) ** 4
    holm, bonferroni = adjust_p_values(p, Correction.HOLM), adjust_p_values(p, Correction.BONFERRONI)
    assert (p <= holm).all()
    assert (holm <= bonferroni).all()
    assert (holm < bonferroni).any()


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_p_values_that_cannot_be(bad):
    with pytest.raises(ConfigError, match="between 0 and 1"):
        adjust_p_values([0.1, bad], Correction.HOLM)
