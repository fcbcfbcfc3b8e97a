"""Agreement between judges: kappa equals statsmodels', alpha equals the values that Krippendorff computed by hand."""

import math

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from lexfuse.evaluation.agreement import GradeDistance, cohen_kappa, krippendorff_alpha

# The data of "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units, * is missing.
OBSERVERS = ["123321412***", "1233224125*3", "*3332342251*", "12332441251*"]
UNITS = [[int(grade) for grade in unit if grade != "*"] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("distance", "weights"),
    [(GradeDistance.NOMINAL, None), (GradeDistance.LINEAR, "linear"), (GradeDistance.QUADRATIC, "quadratic")],
)
def test_kappa_is_that_of_statsmodels(distance, weights, seed):
    chance = np.random.default_rng(seed)
    first = chance.integers(0, 4, 60)
    second = np.where(chance.random(60) < 0.6, first, chance.integers(0, 4, 60))
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    expected = cohens_kappa(table, wt=weights, return_results=False)
    assert cohen_kappa(first.tolist(), second.tolist(), distance) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("distance", "published"), [(GradeDistance.NOMINAL, 0.743), (GradeDistance.ORDINAL, 0.815), (GradeDistance.QUADRATIC, 0.849)]
)
def test_alpha_is_that_of_krippendorff(distance, published):
    assert krippendorff_alpha(UNITS, distance) == pytest.approx(published, abs=0.0005)


def test_alpha_of_two_observers_is_that_of_krippendorff():
    first, second = "0100000010", "1110010000"  # section A: binary data
    units = [[int(one), int(two)] for one, two in zip(first, second, strict=True)]
    assert krippendorff_alpha(units, GradeDistance.NOMINAL) == pytest.approx(0.095, abs=0.0005)


def test_agreement_that_chance_cannot_explain_is_not_a_number():
    assert math.isnan(cohen_kappa([1, 1], [1, 1]))
    assert math.isnan(krippendorff_alpha([[1, 1], [1, 1]]))
    assert math.isnan(krippendorff_alpha([[1], [2]]))
    assert krippendorff_alpha([[0, 0], [3, 3]]) == 1.0
