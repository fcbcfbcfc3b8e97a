"""Letters: accents, ligatures, composed and decomposed forms."""

import unicodedata

import pytest

from lexfuse.text.letters import compose, fold


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("ÉTAT", "ETAT"),
        ("cœur", "coeur"),
        ("ŒUVRE", "OEUVRE"),
        ("Straße", "Strasse"),
        ("naïve", "naive"),
        ("ﬁn", "fin"),
        ("abc", "abc"),
    ],
)
def test_folding(text, bare):
    assert fold(text) == bare
    assert fold(unicodedata.normalize("NFD", text)) == bare


def test_soft_hyphens_go_and_forms_meet():
    assert compose("ma\u00adni\u00adfeste") == "manifeste"
    assert compose("e\u0301") == "é"
    assert compose("plain") == "plain"
