"""Classes of queries, by documented rules."""

import pytest

from lexfuse.text.query_class import DOCUMENT_WORDS, QueryClass, query_class


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l'article L.1234-5 du code du travail", "citation"),
        ("L1234-5", "citation"),
        ("code du travail L1237-19", "citation"),
        ("art. L 1237-19 et suivants", "citation"),
        ("Cass. soc., 12 mars 2019, n° 17-12.345", "citation"),
        ("arrêt n° 12-34.567 du 3 mai 2012", "citation"),
        ("judgment of the Court of 4 May 2023, C-60/22, paragraph 64", "citation"),
        ("TFEU Article 267", "citation"),
        ("licenciement L1235-3", "citation"),
        ("Que dit l'article L1234-5 ?", "citation"),
        ("indemnité de licenciement sans cause réelle L1235-3", "keywords"),
        ("Quel délai l'article L1234-5 impose-t-il au salarié démissionnaire ?", "question"),
        ("rupture conventionnelle", "keywords"),
        ("code du travail", "keywords"),
        ("période d'essai cadre", "keywords"),
        ("notice period fixed-term contract", "keywords"),
        ("Droits à congés, cas particulier", "keywords"),
        ("Quelle est la durée du préavis", "question"),
        ("rupture conventionnelle comment faire", "question"),
        ("La période d’essai peut-elle être renouvelée", "question"),
        ("faut-il un écrit", "question"),
        ("qu est ce qu un signe religieux", "question"),
        ("Is an employer liable for a contractor", "question"),
        ("mon employeur me doit un mois", "question"),
        ("Cold exposure increases brown fat in adults.", "question"),
        ("Congés payés.", "keywords"),
        ("où", "question"),
        ("", "keywords"),
        ("?!", "keywords"),
    ],
)
def test_classes(text, expected):
    assert query_class(text) is QueryClass(expected)


def test_a_long_text_is_a_document_whatever_it_asks_or_cites():
    assert query_class("Pourquoi L1234-5 ? " * DOCUMENT_WORDS) is QueryClass.DOCUMENT
    assert query_class("mot " * DOCUMENT_WORDS) is QueryClass.DOCUMENT
    assert query_class("mot " * (DOCUMENT_WORDS - 1)) is QueryClass.KEYWORDS


def test_accents_and_capitals_do_not_matter():
    assert query_class("OÙ DÉCLARER") is query_class("ou declarer") is QueryClass.QUESTION
