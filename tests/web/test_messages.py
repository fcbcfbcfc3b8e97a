import re
from string import Formatter

import pytest

from lexfuse.errors import ConfigError
from lexfuse.web.messages import InterfaceLocale, Messages, messages_of
from lexfuse.web.renderer import TEMPLATES

FRENCH, ENGLISH = messages_of(InterfaceLocale.FRENCH), messages_of(InterfaceLocale.ENGLISH)
USED = re.compile(r"""\bt\(\s*"([^"]*)"(\s*~)?""")


def texts_of(message):
    return [message] if isinstance(message, str) else list(message.values())


def fields_of(message):
    return {name for text in texts_of(message) for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts():
    assert set(FRENCH.texts) == set(ENGLISH.texts)


@pytest.mark.parametrize("key", sorted(ENGLISH.texts))
def test_both_languages_put_in_the_same_values(key):
    assert fields_of(FRENCH.texts[key]) == fields_of(ENGLISH.texts[key])
    assert isinstance(FRENCH.texts[key], str) == isinstance(ENGLISH.texts[key], str)


@pytest.mark.parametrize("template", sorted(path.name for path in TEMPLATES.glob("*.html")))
def test_templates_use_only_texts_that_are_there(template):
    for key, goes_on in USED.findall((TEMPLATES / template).read_text("utf-8")):
        known = any(one.startswith(key) for one in ENGLISH.texts) if goes_on else key in ENGLISH.texts
        assert known, f"{template} uses {key!r}"


def test_french_texts_have_no_plain_space_before_high_punctuation():
    wrong = [key for key, message in FRENCH.texts.items() for text in texts_of(message) if re.search(r" [;:?!»]|« ", text)]
    assert wrong == []


def test_texts_hold_no_markup():
    for messages in (FRENCH, ENGLISH):
        assert not [key for key, message in messages.texts.items() for text in texts_of(message) if re.search(r"<\w|&\w+;", text)]


def test_zero_is_singular_in_french_alone():
    assert FRENCH.text("results.shown", count=0) == "0 résultat"
    assert ENGLISH.text("results.shown", count=0) == "0 results"
    assert ENGLISH.text("results.shown", count=1) == "1 result"


def test_values_are_not_read_as_patterns():
    assert Messages(InterfaceLocale.ENGLISH, {"a.b": "{name}!"}).text("a.b", name="{secret}") == "{secret}!"


def test_an_unknown_text_is_an_error():
    with pytest.raises(ConfigError, match=r"no text 'a\.b'"):
        ENGLISH.text("a.b")
