"""Decide whether a sentence ends at a period: the trained splitter nupunkt, corrected by legal rules.

Two layers, in this order:

1. `ends_sentence` and `ending` decide what Punkt cannot, since it sees only one word on each side: a lower-case word continues,
an enumerator opens its item, an anonymised name keeps its dots, a listed abbreviation ends a sentence only before a sentence
starter, a German ordinal ("am 3. Mai") is read like an abbreviation, and nothing ends inside a bracket opened in mid-sentence. 2.
`punkt_breaks` decides for every other word. English uses nupunkt's legal model, languages with a list (``abbreviations_*.txt``) a
Punkt with its abbreviations and sentence starters, any other language a Punkt without abbreviations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lexfuse.errors import DataError

SECTIONS = ("never-final", "abbreviations", "starters")


@dataclass(frozen=True, slots=True)
class SentenceLexicon:
    """The abbreviations and sentence starters of one language, in lower case without the last period.

    >>> lexicon("fr").never_final & {"m", "mme", "art"} == {"m", "mme"}
    True
    """

    never_final: frozenset[str]  # "Mr.", "v.": another word always follows
    abbreviations: frozenset[str]  # "Ltd.", "art.": end a sentence only before a sentence starter
    starters: frozenset[str]

    @property
    def all_abbreviations(self) -> frozenset[str]:
        """Both kinds together."""
        return self.never_final | self.abbreviations


@cache
def lexicon(language: str) -> SentenceLexicon:
    """The lists of a language; empty if it has none.

    >>> "considérant" in lexicon("fr").starters
    True
    >>> lexicon("xx").all_abbreviations
    frozenset()
    """
    path = Path(__file__).with_name(f"abbreviations_{language}.txt")
    if not language.isalpha() or not path.is_file():
        return SentenceLexicon(frozenset(), frozenset(), frozenset())
    words = _sections(path)
    return SentenceLexicon(*(frozenset(words[name]) for name in SECTIONS))


def _sections(path: Path) -> dict[str, set[str]]:
    """The words under each ``[section]`` line of a list; ``#`` begins a comment line."""
    words: dict[str, set[str]] = {name: set() for name in SECTIONS}
    section = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("["):
            section = line.strip("[] ")
        elif line and not line.startswith("#"):
            if section not in words:
                raise DataError(f"a word before a section, or an unknown section {section!r}", path=path, line=number)
            words[section].update(line.split())
    return words


WORD_REACH = 60  # characters examined around a mark; a longer word is not an abbreviation
BRACKET_REACH = 400  # characters; a bracket not closed within them is stray

_OPENERS = re.compile(r"[\s«“”\"'‘’(\[{*_—–-]*")  # may precede the first word of a sentence
_NEXT_WORD = re.compile(r"[^\W\d_]+['’]?")
_OMISSION = re.compile(r"[\[(]\s?(?:\.\s?\.\s?\.|…)\s?[\])]\s*")
_ELISION = re.compile(r"\A(?:[ldjmnstc]|qu|(?:de|a|ne|su|da)ll)['’](?=\w)", re.IGNORECASE)
_DOTTED = re.compile(r"[^\W\d_](?:\.-?[^\W\d_])+\Z")  # U.S, A.I.R, S.A.R.L, J.-P
_ENUMERATOR = re.compile(r"\(?(?:\d{1,3}|[^\W\d_]|[ivxlc]{2,6})\)?\\?\.\Z", re.IGNORECASE)
_ENUMERATOR_LENGTH = 12
_GOES_ON = frozenset(",;:)]}»”?!.")
_ANONYMISED = re.compile(r"\W*[A-ZÀ-Þ]{1,2}(?:\.\s?\.\s?\.|…)\Z")
_ORDINAL = re.compile(r"\W*(?:\d{1,3}|[IVXLC]{2,6})\\?\.\Z")
_ORDINAL_LANGUAGES = ("de",)  # that write ordinals with a period, and have a list of sentence starters
_NUMBER = re.compile(r"\W*\d[\d.,/-]*\.\Z")
_BRACKETS = re.compile(r"[()\[\]]")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True, slots=True)
class BoundaryCandidate:
    """A possible sentence end: closing punctuation followed by white space."""

    text: str
    start: int  # of the punctuation
    end: int  # after it and its closing quotes and brackets
    following: int  # first character after the white space
    sentence: int  # start of the sentence that may end

    @property
    def word(self) -> str:
        """The last word with its punctuation, without closing quotes and brackets.

        >>> BoundaryCandidate("see (art. 6)", 8, 9, 10, sentence=0).word
        'art.'
        """
        end = self.start + 1
        while end < self.end and self.text[end] in ".!?…":
            end += 1
        return self.text[max(self.sentence, end - WORD_REACH) : end].rsplit(None, 1)[-1].lstrip("([{«“\"'‘*_")


@cache
def punkt(language: str) -> Any:
    """The cached nupunkt splitter of a language."""
    from nupunkt import PunktParameters, PunktSentenceTokenizer
    from nupunkt.models import load_default_model

    words = lexicon(language)
    if language == "en":
        splitter = load_default_model()  # a separate instance: nupunkt.load() shares one with every caller
        splitter.add_abbreviations(sorted(words.all_abbreviations))
        return splitter
    parameters = PunktParameters(abbrev_types=set(words.all_abbreviations), sent_starters=set(words.starters))
    return PunktSentenceTokenizer(parameters, include_common_abbrevs=False)


@lru_cache(maxsize=1 << 16)
def punkt_breaks(language: str, word: str, following: str) -> bool:
    """Whether nupunkt ends a sentence between two words.

    >>> punkt_breaks("en", "F.3d.", "at"), punkt_breaks("en", "premises.", "The")
    (False, True)
    """
    return bool(punkt(language).text_contains_sentbreak(f"{word} {following}"))


class LastWordKind(Enum):
    """The kind of the last word before a mark, which decides what must follow a sentence end.

    >>> ending("en", "Mr."), ending("en", "Ltd."), ending("en", "1999.")
    (<LastWordKind.NEVER_FINAL: 'never final'>, <LastWordKind.BEFORE_STARTER: 'before a starter'>, <LastWordKind.BEFORE_LETTER:
    'before a letter'>)
    """

    NEVER_FINAL = "never final"
    BEFORE_STARTER = "before a starter"  # abbreviations, initials, anonymised names
    BEFORE_LETTER = "before a letter"  # numbers and ellipses: digits or signs continue
    FINAL = "final"  # a question or exclamation mark
    PUNKT = "as nupunkt says"


@lru_cache(maxsize=1 << 16)
def ending(language: str, word: str) -> LastWordKind:
    """The kind of a word with its closing punctuation, by the lists of the language and its shape.

    >>> ending("fr", "l'art."), ending("fr", "contrat.")
    (<LastWordKind.BEFORE_STARTER: 'before a starter'>, <LastWordKind.PUNKT: 'as nupunkt says'>)
    """
    words = lexicon(language)
    if not word.endswith((".", "…")):
        return LastWordKind.FINAL
    if _ANONYMISED.match(word) or (language in _ORDINAL_LANGUAGES and _ORDINAL.match(word)):
        return LastWordKind.BEFORE_STARTER
    if word.endswith(("..", "…")) or word == "." or _NUMBER.match(word):
        return LastWordKind.BEFORE_LETTER
    key = _ELISION.sub("", word[:-1].lower())
    if key in words.never_final:
        return LastWordKind.NEVER_FINAL
    if key in words.abbreviations or _DOTTED.match(key) or (len(key) == 1 and key.isalpha()):
        return LastWordKind.BEFORE_STARTER
    return LastWordKind.PUNKT


def ends_sentence(mark: BoundaryCandidate, language: str) -> bool:
    """Whether a sentence ends at a mark.

    >>> text = "See M. Lenoir. He left."
    >>> ends_sentence(BoundaryCandidate(text, 5, 6, 7, sentence=0), "fr")
    False
    >>> ends_sentence(BoundaryCandidate(text, 13, 14, 15, sentence=0), "en")
    True
    """
    following = _following(mark)
    if following[:1].islower() or mark.text[mark.following] in _GOES_ON:
        return False
    word = mark.word
    if len(word) < _ENUMERATOR_LENGTH and _ENUMERATOR.match(word) and _opens_item(mark, word):
        return False
    match ending(language, word):
        case LastWordKind.NEVER_FINAL:
            ends = False
        case LastWordKind.BEFORE_STARTER:
            ends = _begins_sentences(mark, following, lexicon(language))
        case LastWordKind.BEFORE_LETTER:
            ends = following != ""
        case LastWordKind.FINAL:
            ends = True
        case LastWordKind.PUNKT:
            # nupunkt's English list has ordinary words ("tax", "code"): a sentence starter overrides it
            ends = punkt_breaks(language, word, following or "1") or _begins_sentences(mark, following, lexicon(language))
    return ends and not _inside_bracket(mark)


def _following(mark: BoundaryCandidate) -> str:
    """The next word after opening quotes and brackets; empty if a digit or sign comes first."""
    place = mark.following
    if omission := _OMISSION.match(mark.text, place, place + WORD_REACH):
        place = omission.end()
    if openers := _OPENERS.match(mark.text, place, place + WORD_REACH):
        place = openers.end()
    found = _NEXT_WORD.match(mark.text, place, place + WORD_REACH)
    return found.group() if found else ""


def _begins_sentences(mark: BoundaryCandidate, following: str, words: SentenceLexicon) -> bool:
    """Whether the next word is a sentence starter and not an abbreviation or initial."""
    key = following.lower().replace("’", "'")
    if key not in words.starters:
        return False
    after = mark.text.find(following, mark.following) + len(following)
    return mark.text[after : after + 1] != "."


def _opens_item(mark: BoundaryCandidate, word: str) -> bool:
    """Whether an enumerator such as ``2.`` or ``A.`` begins its sentence or line, or follows a colon."""
    start = mark.start + 1 - len(word)
    if start <= mark.sentence:
        return True
    before = mark.text[max(mark.sentence, start - WORD_REACH) : start]
    return before.rstrip(" \t\u00a0").endswith((":", ";", "\n")) and not word[0].isalpha()


def _inside_bracket(mark: BoundaryCandidate) -> bool:
    """Whether the mark is inside a bracket that opened in mid-sentence and closes nearby."""
    text = mark.text
    begin = max(mark.sentence + 1, mark.end - BRACKET_REACH)
    if text.find("(", begin, mark.end) < 0 and text.find("[", begin, mark.end) < 0:
        return False
    closed = 0
    for bracket in reversed(list(_BRACKETS.finditer(text, begin, mark.end))):
        closed += 1 if bracket.group() in ")]" else -1
        if closed < 0:
            closer = ")" if bracket.group() == "(" else "]"
            end = text.find(closer, mark.end, bracket.start() + BRACKET_REACH)
            return end >= 0 and not _BLANK_LINE.search(text, mark.end, end)
    return False
