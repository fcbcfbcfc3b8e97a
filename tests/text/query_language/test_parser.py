"""What is an operator, what is ordinary prose, and what the operators mean."""

import pytest

from lexfuse.errors import ConfigError
from lexfuse.text.query_language.parser import MAX_CHARACTERS, parse

FIELDS = frozenset(("title", "text", "code", "number", "date"))

PROSE = [
    "qu'est-ce que l'« abus de confiance » ?",
    "L1237-19",
    "article L. 1237-19 du code du travail",
    "e-mail",
    "and/or",
    "2/3",
    "la majorité des 2 /3 des voix",
    "12 /20",
    "“abus de confiance”",
    "‘abus’ de confiance",
    'l\'"abus de confiance" ?',
    '5" pipe',
    "a-t-il droit ?",
    "la loi - dite Macron - prévoit",
    "la loi -dite Macron- prévoit",
    "température -5",
    "– tiret",
    "(préavis) et congé",
    "le ou la salarié(e)",
    "or, la cour a jugé",
    "and or not",
    "Question: what is a lease",
    "code : travail",
    "12:30",
    "ECLI:EU:C:2023:373",
    "http://example.org",
    "*note",
    "2*3",
    "**gras**",
    "a*",
    "s/he",
    "km/h",
    "C-60/22",
    "a / b",
    "/s",
    "¿",
    "",
    "le droit, la loi, etc.",
    "R&D",
    "title:",
    "title: bail",
    "D'OR ET D'ARGENT",
    "«-»",
    "--",
    "- -",
]


@pytest.mark.parametrize("text", PROSE)
def test_ordinary_prose_is_plain(text):
    found = parse(text, FIELDS)
    assert (found.condition, found.ranked) == (None, ())


@pytest.mark.parametrize(
    ("text", "condition", "ranked"),
    [
        ('"abus de confiance"', '"abus de confiance"', ["abus de confiance"]),
        ('Que veut dire "abus de confiance" ?', '"abus de confiance"', ["Que", "veut", "dire", "abus de confiance"]),
        ("bail -rural", "NOT rural", ["bail"]),
        ('bail -"bail rural" -meublé', 'NOT "bail rural" AND NOT meublé', ["bail"]),
        ("bail AND loyer", "bail AND loyer", ["bail", "loyer"]),
        ("bail OR loyer AND congé", "bail OR (loyer AND congé)", ["bail", "loyer", "congé"]),
        ("(bail OR loyer) AND congé", "(bail OR loyer) AND congé", ["bail", "loyer", "congé"]),
        ("(bail loyer) AND congé", "(bail AND loyer) AND congé", ["bail", "loyer", "congé"]),
        ("préavis bail AND loyer", "bail AND loyer", ["préavis", "bail", "loyer"]),
        ("bail NOT rural", "NOT rural", ["bail"]),
        ("bail AND NOT (rural OR commercial)", "bail AND NOT (rural OR commercial)", ["bail"]),
        ("bail AND NOT NOT loyer", "bail AND NOT NOT loyer", ["bail", "loyer"]),
        ("bail -(rural OR commercial)", "NOT (rural OR commercial)", ["bail"]),
        ("licenci*", "licenci*", ["licenci"]),
        ("l'employ* ?", "employ*", ["employ"]),
        ("bail /s loyer", "bail /s loyer", ["bail", "loyer"]),
        ("bail /s loyer /s congé", "bail /s loyer /s congé", ["bail", "loyer", "congé"]),
        ("bail /s loyer /3 congé", "(bail /s loyer) AND (loyer /3 congé)", ["bail", "loyer", "loyer", "congé"]),
        (
            '"faute grave" /p (licenciement OR congé*)',
            '"faute grave" /p (licenciement OR congé*)',
            ["faute grave", "licenciement", "congé"],
        ),
        ("title:bail loyer", "title:bail", ["bail", "loyer"]),
        ('code:"Code civil" loyer', 'code:"Code civil"', ["loyer"]),
        ("loyer -title:bail", "NOT title:bail", ["loyer"]),
        ("loyer date:2020-05.", "date:2020-05", ["loyer"]),
        (
            "licencié(e) AND (salarié(e) OR cadre)",
            "licencié(e) AND (salarié(e) OR cadre)",
            ["licencié(e)", "salarié(e)", "cadre"],
        ),
    ],
)
def test_operators(text, condition, ranked):
    found = parse(text, FIELDS)
    assert (str(found.condition), [one.text for one in found.ranked], found.note) == (condition, ranked, "")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("bail AND", "read as plain text: a word, a phrase or a parenthesis is missing at the end"),
        ("OR la cour a jugé", "read as plain text: a word, a phrase or a parenthesis is missing at character 1"),
        ("bail AND OR loyer", "read as plain text: a word, a phrase or a parenthesis is missing at character 10"),
        ("(bail AND loyer", "read as plain text: the parenthesis at character 1 is not closed"),
        ("bail AND loyer)", "read as plain text: the parenthesis at character 15 is not opened"),
        ("bail AND ()", "read as plain text: there is nothing in the parentheses at character 10"),
        (
            "bail /s (loyer AND congé)",
            "read as plain text: only words, phrases and their alternatives with OR can be near something",
        ),
        ("TERMS AND CONDITIONS", "the question is in capitals, so AND, OR and NOT are words"),
        (
            '"bail" ' + "loyer " * 500,
            f"read as plain text: operators are read in questions of up to {MAX_CHARACTERS:,} characters",
        ),
    ],
)
def test_what_makes_no_expression_is_plain_with_a_note(text, note):
    found = parse(text, FIELDS)
    assert found.condition is None
    assert found.note.startswith(note)


def test_a_long_text_without_operators_has_no_note():
    assert parse("e-mail and/or loyer " * 500, FIELDS).note == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [("(" * 21 + "a AND b" + ")" * 21, "may be 20 deep"), (" AND ".join(["a"] * 51), "has 51 words and phrases, 50 are allowed")],
)
def test_limits(text, message):
    with pytest.raises(ConfigError, match=message):
        parse(text, FIELDS)
