"""The distance of misspelt words: common slips are cheaper, and it is a distance."""

from hypothesis import given
from hypothesis import strategies as st

from lexfuse.text.everyday.spelling_distance import longest_distance, spelling_distance

WORDS = st.text("abcdeinorst", min_size=1, max_size=8)


def test_common_slips_are_cheaper_than_others():
    assert spelling_distance("demision", "demission") < spelling_distance("demaission", "demission")
    assert spelling_distance("congz", "conge", "fr") < spelling_distance("congx", "conge", "fr")  # z is next to e on AZERTY
    assert spelling_distance("ruputre", "rupture") < spelling_distance("rupxure", "rupture")
    assert spelling_distance("xongee", "congee") > spelling_distance("coxgee", "congee")  # the first letter


@given(WORDS, WORDS)
def test_it_is_symmetric_and_zero_only_for_the_same_word(one, other):
    distance = spelling_distance(one, other, most=20)
    assert distance == spelling_distance(other, one, most=20)
    assert (distance == 0) == (one == other)


@given(WORDS, WORDS, st.floats(0, 4))
def test_a_limit_changes_no_distance_below_it(one, other, most):
    distance = spelling_distance(one, other, most=20)
    assert spelling_distance(one, other, most=most) == (distance if distance <= most else float("inf"))


def test_short_words_are_left_alone():
    assert longest_distance(3) == 0 < longest_distance(4) < longest_distance(12)
