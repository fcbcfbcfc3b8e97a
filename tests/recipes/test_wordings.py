"""Other wordings of questions: one typing error, everyday words."""

import random

import pytest


def draw(seed):
    return random.Random(seed)  # noqa: S311


@pytest.fixture(scope="module")
def recipe(recipe_named):
    return recipe_named("wordings")


def test_a_typing_error_changes_one_word_by_at_most_two_letters(recipe):
    text = "Quel est le préavis d'une démission ?"
    for seed in range(50):
        changed = recipe.misspelt(text, draw(seed))
        words = [(one, other) for one, other in zip(text.split(), changed.split(), strict=True) if one != other]
        assert len(words) <= 1
        assert all(abs(len(one) - len(other)) <= 1 for one, other in words)


def test_short_words_and_numbers_stay(recipe):
    assert recipe.misspelt("Art. 12 du CDD", draw(1)) == "Art. 12 du CDD"


def test_everyday_words_take_the_place_of_those_of_the_law(recipe):
    assert recipe.everyday("Mon bailleur refuse", draw(1)) == "Mon proprio refuse"
    assert recipe.everyday("Rien à changer", draw(1)) == "Rien à changer"
