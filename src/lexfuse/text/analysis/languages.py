"""Detect the language of a text. French and English are analysed; others are recognised to avoid mistakes.

Function words decide if there are any; letters decide a query of two words. The weights of letter trigrams
(``letter_triples.txt``) are rounded log ratios of their shares in French and English words, made by ``bench/languages.py
--learn``.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from lexfuse.text.letters import compose, fold

SAMPLE = 2000  # characters; more does not change the answer
_DECISIVE = 12.0  # votes of function words that need no confirmation by letters
_FUNCTION_WORD = 2.0  # votes, shared by the languages that have the word
_TRIPLE = 0.2  # votes for each unit of a triple's weight
_MARGIN = 0.3  # minimum lead over the second language, in votes

_WORD = re.compile(r"[^\W\d_]+")
_FRENCH_LETTERS = re.compile(r"[éèêëàâçùûîïôœ]|\b(?:[ldjnstcm]|qu|jusqu|lorsqu|puisqu)['’ʼ](?=\w)")
_ENGLISH_LETTERS = re.compile(r"\w[’']s\b")


def detect_language(text: str) -> str:
    """The language of a text: "fr", "en", "de", "es", "it", "nl", "pt", or "" if it is unclear.

    >>> detect_language("Quelle est la durée du préavis ?"), detect_language("notice period")
    ('fr', 'en')
    >>> detect_language("Die Würde des Menschen ist unantastbar"), detect_language("12345")
    ('de', '')
    """
    sample = compose(text[:SAMPLE]).lower()
    words = _WORD.findall(sample)
    votes = _function_votes(words)
    best, second = sorted(votes, key=votes.__getitem__, reverse=True)[:2]
    if votes[best] - votes[second] < _DECISIVE:
        votes["fr"] += len(_FRENCH_LETTERS.findall(sample))
        votes["en"] += len(_ENGLISH_LETTERS.findall(sample))
        weight = _TRIPLE * triple_weight(words)
        votes["fr" if weight > 0 else "en"] += abs(weight)
        best, second = sorted(votes, key=votes.__getitem__, reverse=True)[:2]
    return best if votes[best] - votes[second] >= _MARGIN else ""


def _function_votes(words: list[str]) -> dict[str, float]:
    known = function_words()
    votes = dict.fromkeys(_languages(), 0.0)
    for word in words:
        languages = known.get(word)
        if languages:
            for language in languages:
                votes[language] += _FUNCTION_WORD / len(languages)
    return votes


def triple_weight(words: list[str]) -> int:
    """What the letters of words indicate: above zero French, below zero English.

    >>> triple_weight(["conges", "payes"]) > 0 > triple_weight(["cold", "exposure", "growth"])
    True
    """
    weights = _triples()
    text = f" {fold(' '.join(words))} "
    return sum(weights.get(text[at : at + 3], 0) for at in range(len(text) - 2))


@cache
def function_words() -> dict[str, tuple[str, ...]]:
    """Function words, each with the languages that have it.

    >>> function_words()["shall"], function_words()["de"]
    (('en',), ('fr', 'nl'))
    """
    languages: dict[str, tuple[str, ...]] = {}
    for line in _lines("function_words.txt"):
        language, words = line.split(":")
        for word in words.split():
            languages[word] = (*languages.get(word, ()), language)
    return languages


@cache
def _languages() -> tuple[str, ...]:
    return tuple(line.split(":")[0] for line in _lines("function_words.txt"))


@cache
def _triples() -> dict[str, int]:
    weights: dict[str, int] = {}
    for line in _lines("letter_triples.txt"):
        head, triples = line.split(":")
        language, size = head.split()
        weight = int(size) if language == "fr" else -int(size)
        weights |= {triple.replace("_", " "): weight for triple in triples.split()}
    return weights


def _lines(name: str) -> list[str]:
    return (files("lexfuse.text.analysis") / name).read_text("utf-8").splitlines()
