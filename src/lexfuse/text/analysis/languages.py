"""Detect the language of a text, among those that have stems.

Known words decide a text of several sentences: the stop words of each language, a few more (``detection_words.txt``), and for
seven languages the words of statutes that the others do not have (``law_words.txt``). Letters help with a heading or a query,
which may have no known word. ``letter_triples.txt`` lists the most frequent triples of letters of each language with a level: the
binary logarithm of the triple's share above a floor. ``bench/languages.py --learn`` made both tables from statutes, and that of
letters from translations where no statutes were at hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.text.letters import compose

SAMPLE = 2000  # characters; more does not change the answer
_DECISIVE = 12.0  # votes of known words that need no confirmation by letters
_KNOWN_WORD = 2.0  # votes, shared by the languages that have the word
_LEVEL = 0.2  # votes for each level of a triple
_COMMON = frozenset({"de", "en", "es", "fr", "it", "nl", "pt"})  # languages of most collections of law
_HEAD_START = 1.0  # votes of these in a text that letters decide
_MARGIN = 0.5  # minimum lead over the second language, in votes

# A word with the marks that are inside words of some scripts, and the apostrophe of an elision after it.
_WORD = re.compile(
    r"(?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0b82-\u0bd7])+(?:['’ʼ](?=\w))?"
)


def detect_language(text: str, among: Collection[str] = ()) -> str:
    """The code of the language of a text, or "" if it is unclear.

    `among` restricts the answer, to the languages of an index for example: a short text shows little of its language, so the
    fewer there are to choose from, the more often the answer is right. Codes without stems are never the answer.

    >>> detect_language("Quelle est la durée du préavis ?"), detect_language("notice period")
    ('fr', 'en')
    >>> detect_language("Die Würde des Menschen ist unantastbar"), detect_language("12345")
    ('de', '')
    >>> detect_language("rupture", among=("en", "fr"))
    'fr'
    """
    words = [word.replace("’", "'").replace("ʼ", "'") for word in _WORD.findall(compose(text[:SAMPLE]).lower())]
    chosen = [code for code in detected_languages() if not among or code in among]
    if not words or not chosen:
        return ""
    votes = word_votes(words)
    if _lead(votes, chosen) < _DECISIVE:
        for code, level in letter_levels(words).items():
            votes[code] += _LEVEL * level
        for code in _COMMON:
            votes[code] += _HEAD_START
    return max(chosen, key=votes.__getitem__) if _lead(votes, chosen) >= _MARGIN and max(votes.values()) > _HEAD_START else ""


def _lead(votes: dict[str, float], chosen: list[str]) -> float:
    """The lead of the first language over the second; a single language leads by its votes."""
    best, second = [*sorted((votes[code] for code in chosen), reverse=True), 0.0][:2]
    return best - second


def word_votes(words: list[str]) -> dict[str, float]:
    """Votes of known words; a word of several languages divides its votes among them.

    >>> votes = word_votes(["the", "under", "shall"])
    >>> votes["en"] > votes["da"] > votes["fi"]  # "under" is Danish too
    True
    """
    known = known_words()
    votes = dict.fromkeys(detected_languages(), 0.0)
    for word in words:
        languages = known.get(word.rstrip("'"), ())
        for language in languages:
            votes[language] += _KNOWN_WORD / len(languages)
    return votes


def letter_levels(words: list[str]) -> dict[str, int]:
    """The sum of the levels of all triples of letters, for each language that has one of them.

    >>> levels = letter_levels(["congés", "payés"])
    >>> max(levels, key=levels.get)
    'fr'
    """
    rows, levels = _triples()
    spaced = [f" {word} " for word in words]
    found = [row for word in spaced for at in range(len(word) - 2) if (row := rows.get(word[at : at + 3])) is not None]
    sums = levels[found].sum(axis=0).tolist() if found else []
    return {code: level for code, level in zip(detected_languages(), sums, strict=False) if level}


@cache
def known_words() -> dict[str, tuple[str, ...]]:
    """Function words and words of statutes, each with the languages that have it.

    >>> known_words()["shall"], known_words()["que"], known_words()["domaine"]
    (('en',), ('fr', 'ca', 'es', 'pt'), ('fr',))
    """
    return listed_words("stop_words.txt", "detection_words.txt", "law_words.txt")


def listed_words(*names: str) -> dict[str, tuple[str, ...]]:
    """The words that files of this package list, each with its languages.

    >>> listed_words("stop_words.txt")["und"]
    ('de',)
    """
    languages: dict[str, tuple[str, ...]] = {}
    for line in (line for name in names for line in _lines(name)):
        codes, words = line.split(":")
        language = codes.split()[0]  # one answer for all that share a list, such as Norwegian
        for word in words.split():
            languages[word] = tuple(dict.fromkeys((*languages.get(word, ()), language)))
    return languages


@cache
def detected_languages() -> tuple[str, ...]:
    """The codes that `detect_language` can return.

    >>> len(detected_languages()), "no" in detected_languages(), "nn" in detected_languages()
    (34, True, False)
    """
    return tuple(line.split(":")[0].split()[0] for line in _lines("stop_words.txt"))


@cache
def _triples() -> tuple[dict[str, int], I64]:
    """The row of each triple, and its level in each language."""
    codes, rows, cells = detected_languages(), dict[str, int](), []
    for line in _lines("letter_triples.txt"):
        head, triples = line.split(":")
        language, level = head.split()
        named = (triple.replace("_", " ") for triple in triples.split())
        cells += [(rows.setdefault(triple, len(rows)), codes.index(language), int(level)) for triple in named]
    levels = np.zeros((len(rows), len(codes)), dtype=np.int64)
    row, column, level_of = np.array(cells, dtype=np.int64).T
    np.add.at(levels, (row, column), level_of)
    return rows, levels


def _lines(name: str) -> list[str]:
    return (files("lexfuse.text.analysis") / name).read_text("utf-8").splitlines()
