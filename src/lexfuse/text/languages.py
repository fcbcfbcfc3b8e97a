"""Which language a text is in: French and English are analysed, others recognised so as not to be mistaken.

Function words decide, letters help: law has long sentences full of function words, and a short query
still shows its accents, elisions or word endings.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.resources import files

SUPPORTED = ("fr", "en")
SAMPLE = 4000  # characters; more does not change the answer

_WORD = re.compile(r"[^\W\d_]+")
_FRENCH_LETTERS = re.compile(
    r"[éèêëàâçùûîïôœ]|\b(?:[ldjnstcm]|qu|jusqu|lorsqu|puisqu)['’ʼ](?=\w)|(?:tion|ment|eur|aux|eux|age|ité|ée)s?\b"
)
_ENGLISH_LETTERS = re.compile(r"\b(?:wh|th|sh|kn)|(?:ing|ght|ness|ship|ful|able|ly|ed|ity| law|wn|ck)s?\b|\w[’']s\b")


def detect(text: str) -> str:
    """The language of a text: "fr", "en", "de", "es", "it", "nl", "pt", or "" when nothing tells.

    >>> detect("Quelle est la durée du préavis ?"), detect("rupture conventionnelle"), detect("notice period")
    ('fr', 'fr', 'en')
    >>> detect("Die Würde des Menschen ist unantastbar"), detect("12345")
    ('de', '')
    """
    sample = text[:SAMPLE].lower()
    words = _WORD.findall(sample)
    votes = {language: sum(2.0 * (word in common) for word in words) for language, common in function_words().items()}
    votes["fr"] += 0.5 * len(_FRENCH_LETTERS.findall(sample))
    votes["en"] += 0.5 * len(_ENGLISH_LETTERS.findall(sample))
    best, second = sorted(votes, key=votes.__getitem__, reverse=True)[:2]
    return best if votes[best] > votes[second] else ""


@cache
def function_words() -> dict[str, frozenset[str]]:
    """Words that tell a language, by language; words shared by two of them are left out.

    >>> "shall" in function_words()["en"], "a" in function_words()["en"]
    (True, False)
    """
    lists: dict[str, frozenset[str]] = {}
    for line in (files("lexfuse.text") / "function_words.txt").read_text("utf-8").splitlines():
        language, words = line.split(":")
        lists[language] = frozenset(words.split())
    counts = Counter(word for common in lists.values() for word in common)
    return {language: frozenset(word for word in common if counts[word] == 1) for language, common in lists.items()}
