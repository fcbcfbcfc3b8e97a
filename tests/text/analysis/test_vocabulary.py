"""Terms as numbers."""

import numpy as np

from lexfuse.text.analysis.analyser import Analyser, Folding
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary


def decoded(encoder, text):
    return [encoder.vocabulary[number] for number in encoder.encode(text)]


def test_ids_are_positions():
    vocabulary = Vocabulary(["a", "b"])
    assert [vocabulary.learn(term) for term in ("b", "c", "a", "c")] == [1, 2, 0, 2]
    assert list(vocabulary) == ["a", "b", "c"]
    assert len(vocabulary) == 3
    assert vocabulary[1:] == ["b", "c"]
    assert vocabulary.find("c") == 2
    assert vocabulary.find("z") is None
    assert "b" in vocabulary


def test_encoding_gives_the_terms_of_the_analyser():
    for folding in Folding:
        analyser = Analyser("fr", folding=folding)
        encoder = TermEncoder(analyser, Vocabulary())
        for text in ("", "Le salarié congédié", "L. 1234-5 et article 6 § 1", "…", "salarié à l’été, été"):
            assert decoded(encoder, text) == analyser.terms(text)
            assert encoder.encode(text).dtype == np.int32


def test_many_words_keep_their_ids():
    encoder = TermEncoder(Analyser("", citations=False), Vocabulary())
    words = [f"mot{n}x" for n in range(5000)]
    assert encoder.encode(" ".join(words)).tolist() == list(range(5000))
    assert decoded(encoder, " ".join(reversed(words))) == words[::-1]


def test_two_languages_share_a_vocabulary():
    vocabulary = Vocabulary()
    french, english = TermEncoder(Analyser("fr"), vocabulary), TermEncoder(Analyser("en"), vocabulary)
    assert french.encode("contrat, art. 6 § 1").tolist()[-1] == english.encode("contract, art. 6 § 1").tolist()[-1]
    assert len(vocabulary) == 5
