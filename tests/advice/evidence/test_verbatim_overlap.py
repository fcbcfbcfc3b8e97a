"""Metrics of shared words equal the textbook recurrences, whatever the lengths."""

import numpy as np
import pytest

from lexfuse.advice.evidence.verbatim_overlap import METRICS, NGRAMS, shared_words, words_of


def edits(a, b):
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, 1):
        new = [i]
        for j, other in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (word != other)))
        row = new
    return row[-1]


def subsequence(a, b):
    row = [0] * (len(b) + 1)
    for word in a:
        new = [0]
        for j, other in enumerate(b, 1):
            new.append(row[j - 1] + 1 if word == other else max(row[j], new[-1]))
        row = new
    return row[-1]


def grams(words, n):
    return {tuple(words[at : at + n]) for at in range(len(words) - n + 1)}


@pytest.mark.parametrize("vocabulary", [2, 12, 300])
def test_every_metric_equals_its_definition(vocabulary):
    """Lengths around 64 and 128, where one stripe of bits ends and the next begins."""
    chance = np.random.default_rng(vocabulary)
    sizes = [0, 1, 7, 63, 64, 65, 128, 150]
    texts = [" ".join(f"w{word}" for word in chance.integers(0, vocabulary, size)) for size in sizes]
    pairs = [(one, two) for one in texts for two in texts]
    found = shared_words([(one, [two]) for one, two in pairs])
    for at, (one, two) in enumerate(pairs):
        a, b = words_of(one), words_of(two)
        assert found["edit distance"][at] == edits(a, b)
        assert found["LCS"][at] == subsequence(a, b)
        assert found["query length"][at] == len(a)
        for n in NGRAMS:
            assert found[f"{n}-grams in common"][at] == len(grams(a, n) & grams(b, n))


def test_the_mean_over_the_documents_of_a_query():
    found = shared_words([("a b c", ["a b c", "x"]), ("x y", ["x y"])])
    assert found["edit distance"].tolist() == [1.5, 0.0]
    assert found["LCS"].tolist() == [1.5, 2.0]
    assert found["2-grams in common"].tolist() == [1.0, 1.0]
    assert found["query length"].tolist() == [3.0, 2.0]


def test_a_gram_that_comes_twice_counts_once():
    assert shared_words([("no law no law no law", ["no law no law"])])["2-grams in common"].tolist() == [2.0]


def test_grams_do_not_run_over_the_end_of_a_text():
    found = shared_words([("a b", ["c d"]), ("b c", ["b c"])])
    assert found["2-grams in common"].tolist() == [0.0, 1.0]


def test_spelling_of_letters_and_marks_does_not_matter():
    assert words_of("L’EMPLOYE\u0301, « C\u201160/22 » !") == ["l", "employé", "c", "60", "22"]


def test_long_texts_are_compared_to_their_last_word():
    words = [f"w{number}" for number in range(30_000)]
    found = shared_words([(" ".join(words), [" ".join([*words[1:], "last"])])])
    assert found["LCS"].tolist() == [29_999.0]
    assert found["edit distance"].tolist() == [2.0]
    assert found["10-grams in common"].tolist() == [29_999.0 - 9]


def test_nothing_to_compare():
    assert {name: values.tolist() for name, values in shared_words([]).items()} == {name: [] for name in METRICS}
