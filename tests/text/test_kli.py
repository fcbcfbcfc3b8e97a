"""Kullback-Leibler informativeness against its definition, and how many terms a choice takes."""

import math

import numpy as np
import pytest

from lexfuse.errors import ConfigError
from lexfuse.text.kli import TermChoice, TermWeight, WeightedWord, informativeness, ranked


def test_informativeness_is_the_definition_term_by_term():
    generator = np.random.default_rng(5)
    counts = generator.integers(1, 30, 50).astype(float)
    collection = generator.integers(1, 2000, 50).astype(float)
    total = collection.sum() + 4321
    slow = [
        (count / sum(counts)) * math.log((count / sum(counts)) / (held / total))
        for count, held in zip(counts, collection, strict=True)
    ]
    np.testing.assert_allclose(informativeness(counts, collection, total), slow, rtol=1e-12)


def test_a_term_as_common_as_in_the_collection_says_nothing_and_a_rarer_one_less():
    alike, rarer, commoner = informativeness(np.array([2.0, 1.0, 7.0]), np.array([20.0, 30.0, 1.0]), 100.0)
    assert alike == pytest.approx(0.0)
    assert rarer < 0 < commoner


def test_nothing_has_no_terms():
    assert informativeness(np.empty(0), np.empty(0), 10.0).tolist() == []
    assert ranked(np.empty(0), []).tolist() == []


@pytest.mark.parametrize(
    ("amount", "distinct", "taken"),
    [(0.1, 10, 1), (0.1, 11, 2), (0.1, 30, 3), (0.3, 10, 3), (1.0, 7, 7), (0.001, 5, 1), (0.5, 0, 0), (2, 9, 2), (50, 9, 9)],
)
def test_a_share_is_rounded_up_and_a_number_is_a_number(amount, distinct, taken):
    assert TermChoice(amount).number(distinct) == taken


@pytest.mark.parametrize("amount", [0, -0.1, 1.5, math.nan, math.inf])
def test_amounts_that_cannot_be(amount):
    with pytest.raises(ConfigError, match="KLI takes a share"):
        TermChoice(amount)


def test_weights_of_terms():
    counts, values = np.array([3.0, 1.0]), np.array([0.5, -0.1])
    assert TermChoice().weights(counts, values).tolist() == [1.0, 1.0]
    assert TermChoice(weight=TermWeight.COUNT).weights(counts, values).tolist() == [3.0, 1.0]
    assert TermChoice(weight=TermWeight.INFORMATIVENESS).weights(counts, values).tolist() == [0.5, 0.0]


def test_words_with_weights_as_they_are_written():
    assert WeightedWord.parse(" force majeure = 2.5 ") == WeightedWord("force majeure", 2.5)
    assert WeightedWord.parse("a=b") == WeightedWord("a=b")
    assert WeightedWord.parse("L. 1234-5") == WeightedWord("L. 1234-5")
    for wrong in ("", "  ", "=", "=2", " = 3", "…"):
        with pytest.raises(ConfigError, match="a term is written"):
            WeightedWord.parse(wrong)
    for wrong in ("stamp=0", "stamp=-1", "stamp=nan", "stamp=inf"):
        with pytest.raises(ConfigError, match="must be above 0"):
            WeightedWord.parse(wrong)
