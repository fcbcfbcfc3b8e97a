"""Index terms: elisions, apostrophes, accents, stop words, citations."""

import unicodedata

import pytest

from lexfuse.errors import ConfigError
from lexfuse.text.analysis.analyser import Analyser, Folding, stop_words

FRENCH, ENGLISH = Analyser("fr"), Analyser("en")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("l'employeur", ["employeur"]),
        ("l’employeur", ["employeur"]),
        ("lʼemployeur", ["employeur"]),
        ("d'accord", ["accord"]),
        ("qu'elle", []),
        ("jusqu'au terme", ["term"]),
        ("aujourd'hui", []),
        ("LORSQU’IL", []),
        ("congés\u00a0payés", ["cong", "pay"]),
        ("congés\u202fpayés", ["cong", "pay"]),
        ("non\u2011concurrence", ["concurrent"]),
        ("« préavis »", ["preav"]),
        ("ÉTAT", ["etat"]),
        ("État", ["etat"]),
        ("cœur", ["coeur"]),
        ("main‑d’œuvre", ["main", "oeuvr"]),
        ("ma\u00adni\u00adfeste", ["manifest"]),
        ("où", []),
        ("ou", []),
    ],
)
def test_french(text, terms):
    assert FRENCH.terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("the employer's notice", ["employ", "notic"]),
        ("the employer’s notice", ["employ", "notic"]),
        ("employers' notices", ["employ", "notic"]),
        ("It is not so.", []),
        ("naïve café", ["naiv", "cafe"]),
        ("x", []),
    ],
)
def test_english(text, terms):
    assert ENGLISH.terms(text) == terms


@pytest.mark.parametrize("text", ["l'employé licencié à l'été", "règlement (UE) 2016/679", "articles 6 à 9", "où ça", "ÉTAT"])
def test_composed_and_decomposed_text_have_the_same_terms(text):
    assert FRENCH.terms(unicodedata.normalize("NFD", text)) == FRENCH.terms(unicodedata.normalize("NFC", text))


def test_accents_do_not_matter_when_folded():
    assert FRENCH.terms("congé payé démission") == FRENCH.terms("conge paye demission")


def test_the_three_ways_to_treat_accents():
    text = "salarié"
    assert Analyser("fr", folding=Folding.FOLD).terms(text) == ["salar"]
    assert Analyser("fr", folding=Folding.KEEP).terms(text) == ["salari"]
    assert Analyser("fr", folding=Folding.BESIDE).terms(text) == ["salari", "salar"]
    assert Analyser("fr", folding=Folding.BESIDE).terms("contrat") == ["contrat"]


def test_switches():
    assert Analyser("fr", stems=False, stop_words=False).terms("les congés") == ["les", "conges"]
    assert Analyser("fr", citations=False).terms("L. 1234-5") == ["1234"]


def test_a_language_without_a_stemmer_gets_words_only():
    assert Analyser("lv").terms("Likuma pants") == ["likuma", "pants"]
    assert Analyser("").terms("The law") == ["the", "law"]
    assert stop_words("lv") == frozenset()


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de", "Straße STRASSE strasse Straßen"),
        ("de", "Häuser haeuser Hauser Haus"),
        ("nl", "rechten recht"),
        ("es", "acción accion acciones"),
        ("it", "società societa"),
        ("pt", "decisão decisao"),
        ("sv", "lagarna lagar"),
        ("da", "lovene lovens"),
        ("nb", "Åndsverk andsverk"),
        ("fi", "säännöt saannot"),
        ("tr", "IŞIK ışık isik"),
        ("tr", "İSTANBUL istanbul"),
        ("ru", "ёлка ёлки елка"),
        ("ru", "закон закона законы"),
        ("sr", "закона zakona zakon"),
        ("el", "νόμος νομος νόμο"),
        ("pl", "sądów sądu sąd"),
        ("cs", "zákona zákonu"),
        ("hu", "törvények törvény"),
    ],
)
def test_spellings_and_forms_of_a_word_are_one_term(language, words):
    assert len({Analyser(language).terms(word)[0] for word in words.split()}) == 1


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("hi", "भारत के संविधान", ["भारत", "संविधान"]),  # vowel signs stay in their word
        ("ta", "மற்றும் சட்டம்", ["சட்டம்"]),
        ("ar", "المحكمة الدستورية", ["محكم", "دستور"]),
    ],
)
def test_marks_of_other_scripts_are_inside_words(language, text, terms):
    assert Analyser(language).terms(text) == terms
    assert [token.text for token in Analyser(language, stop_words=False).tokens(text)] == text.split()


def test_dignity_is_no_stop_word():
    assert Analyser("de").terms("Die Würde des Menschen wurde verletzt") == ["wurd", "mensch", "verletzt"]


def test_the_first_version_stems_french_and_english_only():
    assert Analyser("de", version=1).terms("Die Würde des Menschen") == ["die", "wurde", "des", "menschen"]
    assert Analyser("tr", version=1).terms("IŞIK") == Analyser("xx").terms("IŞIK")
    for language, text in (("fr", "Les salariés licenciés, हिन्दी"), ("en", "The employers' notices")):
        assert Analyser(language, version=1).terms(text) == Analyser(language).terms(text)


def test_an_unknown_version_is_refused():
    with pytest.raises(ConfigError, match="version of the analysis must be 1 to 2, got 3; update LexFuse"):
        Analyser("fr", version=3)


@pytest.mark.parametrize("language", ["french", "FR", "f", "fr-FR", "f1"])
def test_a_language_must_be_a_code(language):
    with pytest.raises(ConfigError, match="language must be a code"):
        Analyser(language)


def test_tokens_have_places_exact_forms_and_terms():
    text = "L’Employé, cf. l'article L. 1234-5."
    tokens = FRENCH.tokens(text)
    assert [(t.text, t.exact, t.terms, t.citation) for t in tokens] == [
        ("L", "l", (), False),
        ("Employé", "employé", ("employ",), False),
        ("cf", "cf", ("cf",), False),
        ("l", "l", (), False),
        ("article", "article", ("articl",), False),
        ("L. 1234-5", "L1234-5", ("l1234_5", "chapter_1234", "title_123"), True),
    ]
    assert all(text[t.start : t.end] == t.text for t in tokens)


def test_two_spellings_of_one_article_share_their_term():
    for first, second in [
        ("article L. 1234-5", "L1234-5"),
        ("42 U.S.C. § 1983", "42 USC 1983"),
        ("EU:C:2023:373", "ecli:eu:c:2023:373"),
        ("C‑60/22 P", "C-60/22"),
        ("art. 6 § 1 CEDH", "Article 6(1) ECHR"),
        ("article L. 16 B du LPF", "article L. 16B du LPF"),
    ]:
        assert set(FRENCH.terms(first)) & set(FRENCH.terms(second)), (first, second)


def test_the_table_of_pieces_may_start_anew(monkeypatch):
    monkeypatch.setattr("lexfuse.text.analysis.analyser._CACHE_LIMIT", 2)
    analyser = Analyser("fr")
    words = "contrat travail salaire prime contrat"
    assert analyser.terms(words) == Analyser("fr").terms(words) == ["contrat", "travail", "salair", "prim", "contrat"]
