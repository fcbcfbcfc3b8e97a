"""Names of codes and treaties."""

import re

import pytest

from lexfuse.text.citation.code_names import code_key, code_pattern, full_code, known_codes, matching_codes, plain_text
from lexfuse.text.citation.parent_law import mentions, parent_law_of


def test_every_name_is_found_by_the_pattern_in_its_usual_spelling():
    pattern = re.compile(code_pattern(), re.IGNORECASE)
    for name in known_codes():
        usual = name.upper() if name.isalpha() and len(name) <= 6 else name
        usual = usual.capitalize() if name in ("charter", "charte") else usual
        assert pattern.fullmatch(plain_text(usual)), name


def test_no_abbreviation_means_two_codes():
    letters: dict[str, set[str]] = {}
    for name, full in known_codes().items():
        letters.setdefault(re.sub(r"[.\s]", "", name), set()).add(full)
    assert [names for names in letters.values() if len(names) > 1] == []


@pytest.mark.parametrize(
    ("written", "full"),
    [
        ("Code de la Sécurité Sociale", "code de la securite sociale"),
        ("code de l’action sociale  et des familles", "code de l'action sociale et des familles"),
        ("C.trav.", "code du travail"),
        ("C. Trav", "code du travail"),
        ("CPC", "code de procedure civile"),
        ("CEDH", "european convention on human rights"),
        ("RGPD", "regulation 2016/679"),
        ("règlement (UE) n° 2016/679", "regulation 2016/679"),
        ("Protocole n° 1", "protocol 1"),
        ("Code imaginaire", "code imaginaire"),
    ],
)
def test_full_names(written, full):
    assert full_code(written) == full


def test_an_exact_name_wins_over_a_beginning():
    codes = ["Code du travail", "Code du travail maritime"]
    assert matching_codes("c. trav.", codes) == {"Code du travail"}
    assert matching_codes("code du", ["Code du sport"]) == {"Code du sport"}
    assert matching_codes("code d", ["Code du sport"]) == frozenset()
    assert matching_codes("code civil", codes) == frozenset()


def test_decomposed_accents_are_the_same_name():
    assert code_key("se\u0301curite\u0301") == "securite"
    assert mentions("le code de la se\u0301curite\u0301 sociale")[0].name == "code de la se\u0301curite\u0301 sociale"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("article 5 by law", ""),
        ("article 5 shall act", ""),
        ("Article 5 of the First Directive", "First Directive"),
        ("Article 5 of that regulation", "regulation"),
        ("article 5 de la loi prévoit que", "loi"),
        ("article 5 de la loi organique n° 2001-692 du 1er août 2001 relative", "loi organique n° 2001-692 du 1er août 2001"),
        ("Article 5 of the Rules of Procedure of the General Court provides", "Rules of Procedure of the General Court"),
        ("article 5 du règlement intérieur", "règlement"),
        ("article 5 et 6°", ""),
    ],
)
def test_what_follows_a_number(text, code):
    assert parent_law_of(text, 0, len("article 5")).code == code
