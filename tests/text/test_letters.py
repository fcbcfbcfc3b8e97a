"""Letters: accents, ligatures, composed and decomposed forms."""

import unicodedata

import pytest

from lexfuse.text.letters import composed, folded


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
    assert folded(text) == bare
    assert folded(unicodedata.normalize("NFD", text)) == bare


def test_soft_hyphens_go_and_forms_meet():
    assert composed("ma\u00adni\u00adfeste") == "manifeste"
    assert composed("e\u0301") == "é"
    assert composed("plain") == "plain"
