"""Languages with stems: the table, its stemmers and stop words, and codes that are not in it."""

import pytest
import Stemmer

from lexfuse.errors import ConfigError
from lexfuse.text.analysis.analyser import stem_of, stop_words
from lexfuse.text.analysis.language_table import known_language, languages

OLD_ALGORITHMS = {"porter", "dutch_porter"}  # of languages that have a newer one


def test_every_stemmer_of_snowball_is_in_the_table():
    assert {one.stemmer for one in languages().values()} == set(Stemmer.algorithms()) - OLD_ALGORITHMS


@pytest.mark.parametrize("code", languages())
def test_every_language_has_a_stemmer_and_stop_words(code):
    assert isinstance(stem_of(code)("abc"), str)
    assert len(stop_words(code)) >= 80


def test_a_name_is_not_a_code_but_is_understood():
    with pytest.raises(ConfigError, match=r"unknown language 'Dutch'; did you mean 'nl' \(Dutch\)\? Known are ar, ca, cs"):
        known_language("Dutch")


@pytest.mark.parametrize("code", ["xx", "", "fr-FR"])
def test_an_unknown_code_lists_the_known_ones(code):
    with pytest.raises(ConfigError, match=r"known are ar, ca, .*, lv, .*, yi"):
        known_language(code, others=("lv",))
