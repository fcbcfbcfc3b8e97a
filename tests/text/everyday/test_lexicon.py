"""The lexicon of everyday words: what it finds, how files extend it, and what it refuses."""

import pytest

from lexfuse.errors import ConfigError, DataError
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.everyday.lexicon import FILE_NAME, Lexicon, everyday_lexicon

FRENCH = Analyser("fr")


def found(lexicon, text, analyser=FRENCH):
    return [(text[one.start : one.end], one.law) for one in lexicon.find(text, analyser)]


def test_the_longest_phrase_counts_whatever_case_and_accents():
    lexicon = Lexicon.parse(
        'fr = [{ words = ["boite"], law = ["entreprise"] }, { words = ["boîte d\'intérim"], law = ["travail temporaire"] }]'
    )
    assert found(lexicon, "Ma BOÎTE D’INTERIM, pas ma boite") == [
        ("BOÎTE D’INTERIM", ("travail temporaire",)),
        ("boite", ("entreprise",)),
    ]


def test_a_word_is_not_found_inside_another_or_in_another_language():
    assert found(everyday_lexicon(), "un virement bancaire du patronat") == []
    assert found(everyday_lexicon(), "mon patron", Analyser("en")) == []
    assert found(everyday_lexicon(), "my boss fired me", Analyser("en"))[0] == ("boss", ("employer",))


def test_the_shipped_lexicon_has_words_of_the_law_for_every_entry():
    for language, entries in everyday_lexicon().entries.items():
        for entry in entries:
            assert entry.law, entry
            assert all(Analyser(language).terms(law) for law in entry.law), entry


def test_a_file_extends_replaces_and_removes(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text('fr = [{ words = ["patron"], law = [] }, { words = ["bahut"], law = ["établissement"] }]', "utf-8")
    lexicon = everyday_lexicon().extended(Lexicon.read(path))
    assert found(lexicon, "le patron du bahut est le boss") == [("bahut", ("établissement",)), ("boss", ("employeur",))]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("fr = [", DataError, "not valid TOML"),
        ('fr = "patron"', ConfigError, "a list of tables with words and law"),
        ('fr = [{ words = ["patron"] }]', ConfigError, "law is missing"),
        ('fr = [{ words = ["!"], law = ["employeur"] }]', ConfigError, "fr 1: a word was expected, got '!'"),
        ('french = [{ words = ["patron"], law = ["employeur"] }]', ConfigError, "language must be a code"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, text, error, words):
    path = tmp_path / "words.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(error, match=r"words\.toml") as raised:
        Lexicon.read(path)
    assert words in str(raised.value)
