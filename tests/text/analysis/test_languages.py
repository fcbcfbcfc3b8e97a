"""Language detection: short queries, other languages, nothing to tell, and the real collections."""

import gzip
import json
import os
from pathlib import Path

import pytest

from lexfuse.text.analysis.languages import SAMPLE, detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Quel est le délai pour contester un licenciement ?", "fr"),
        ("What is the time limit to contest a dismissal?", "en"),
        ("rupture conventionnelle", "fr"),
        ("conges payes", "fr"),
        ("indemnite de licenciement", "fr"),
        ("notice period", "en"),
        ("unfair dismissal", "en"),
        ("LE SALARIÉ NE PEUT ÊTRE LICENCIÉ", "fr"),
        ("l’employeur", "fr"),
        ("Die Würde des Menschen ist unantastbar", "de"),
        ("El contrato de trabajo de los empleados", "es"),
        ("il contratto di lavoro è nullo quando", "it"),
        ("het recht van de werknemer", "nl"),
        ("o direito do trabalhador não é", "pt"),
        ("Short title", "en"),  # headings of English acts that were taken for French
        ("Payment of compensation", "en"),
        ("Appointment of members", "en"),
        ("Protection of employees", "en"),
        ("Prescribed persons", "en"),  # words of statutes decide where letters do not
        ("Environmental protection", "en"),
        ("Domaine public", "fr"),
        ("Pièces justificatives", "fr"),
        ("Kündigungsfristen", "de"),
        ("Fristen bei der Kündigung", "de"),
        ("Disposiciones generales", "es"),
        ("Algemene bepalingen", "nl"),
        ("Disposizioni generali", "it"),
        ("Disposições gerais", "pt"),
        ("Ustawa z dnia 23 kwietnia", "pl"),
        ("Lag om ändring i lagen", "sv"),
        ("Γενικές διατάξεις", "el"),
        ("Общие положения", "ru"),
        ("Закон о раду и о заштити на раду који је на снази", "sr"),
        ("भारत का संविधान", "hi"),
        ("الأحكام العامة", "ar"),
        ("مقررات عمومی کشور", "fa"),
    ],
)
def test_short_texts(text, language):
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", " \n", "12345", "L. 1234-5", "42 § 1983", "?!…", "xyz", "漢字"])
def test_nothing_tells(text):
    assert detect_language(text) == ""


def test_decomposed_accents_count():
    assert detect_language("e\u0301gale\u0301") == detect_language("égalé") == "fr"


def test_fewer_languages_to_choose_from():
    assert detect_language("rupture", among=("en", "fr")) == "fr"
    assert detect_language("Die Würde des Menschen ist unantastbar", among=("de",)) == "de"
    assert detect_language("Likuma pants", among=("lv",)) == ""  # no stems, never the answer
    assert detect_language("12345", among=("de",)) == ""


def test_the_beginning_decides():
    assert detect_language("La loi est la même pour tous. " * 100 + "The law is the law. " * 1000) == "fr"
    assert len("La loi est la même pour tous. " * 100) > SAMPLE


def texts(collection, part):
    folder = os.environ.get("LEXFUSE_DATA")
    if not folder:
        pytest.skip("LEXFUSE_DATA does not name the folder of collections")
    with gzip.open(Path(folder, collection, f"{part}.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [f"{row.get('title', '')} {row['text']}".strip() for row in rows]
    return [text for text in found[:: max(1, len(found) // 2000)] if text]


@pytest.mark.parametrize(
    ("collection", "part", "language", "floor"),
    [
        ("fr-labour", "corpus", "fr", 0.995),
        ("fr-labour", "queries", "fr", 0.97),
        ("scifact", "corpus", "en", 0.995),
        ("scifact", "queries", "en", 0.98),
        ("cjeu", "corpus", "en", 0.995),
        ("cjeu", "queries", "en", 0.995),
        ("irled2017", "corpus", "en", 0.995),
        ("irled2017", "queries", "en", 0.995),
    ],
)
def test_accuracy_on_the_collections(collection, part, language, floor):
    among = ("en", "fr") if part == "queries" else ()  # as a search does, which knows the languages of its documents
    answers = [detect_language(text, among) for text in texts(collection, part)]
    assert answers.count(language) / len(answers) >= floor
    other = {"fr": "en", "en": "fr"}[language]
    assert answers.count(other) / len(answers) <= 0.005  # unsure is better than wrong
