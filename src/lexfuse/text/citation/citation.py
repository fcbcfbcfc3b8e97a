"""A citation: a place in a text that names law, in one canonical form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from lexfuse.text.short_text_cache import cached_if_short


class CitationSystem(StrEnum):
    """The numbering system of a citation."""

    FRENCH_ARTICLE = "french article"  # L1234-5, R*123-4
    ARTICLE = "article"  # a bare number: article 1240 du code civil, Article 45(2)
    ECHR = "echr article"  # article 6 § 1 of the European Convention on Human Rights
    SECTION = "section"  # section 302 of the Indian Penal Code, § 543 BGB
    US_CODE = "us code"  # 42 U.S.C. § 1983
    EU_ACT = "eu act"  # Directive 2004/18/EC, Regulation (EU) 2016/679
    ECLI = "ecli"
    CELEX = "celex"
    EU_CASE = "eu case"  # C-60/22, T-201/04
    FRENCH_CASE = "french case"  # pourvoi n° 19-12.345
    NEUTRAL = "neutral citation"  # [2020] UKSC 5, 2011 SCC 47
    REPORT = "law report"  # 410 U.S. 113, (1992) 175 CLR 1, BGHZ 5, 123
    PARAGRAPH = "paragraph"  # paragraph 64, point 12, §§ 3-5


# Citations that identify a decision; a fair test of text matching must hide them.
STATUTES = frozenset(
    {
        *(CitationSystem.FRENCH_ARTICLE, CitationSystem.ARTICLE, CitationSystem.ECHR, CitationSystem.SECTION),
        *(CitationSystem.US_CODE, CitationSystem.EU_ACT),
    }
)
DECISIONS = frozenset(CitationSystem) - STATUTES
EVERYTHING = DECISIONS | STATUTES


@dataclass(frozen=True, slots=True)
class Citation:
    """One identifier in a text: its place, system, canonical key and context.

    >>> Citation(0, 9, CitationSystem.FRENCH_ARTICLE, "L1234-5").terms
    ('l1234_5', 'chapter_1234', 'title_123')
    """

    start: int
    end: int
    system: CitationSystem
    key: str  # L1234-5, 1240, C-60/22, ECLI:EU:C:2023:373, 42 U.S.C. § 1983
    last: str = ""  # the other end of a range: L1 à L9 has key L1 and last L9
    code: str = ""  # its code or law as written: "code du travail"; "present" for "du présent code"
    parts: tuple[str, ...] = ()  # subdivisions: ("2", "c") in Article 45(2)(c); paragraphs of a decision

    @property
    def terms(self) -> tuple[str, ...]:
        """Index terms, the same for every spelling; a subdivision adds a second, finer term.

        >>> Citation(0, 0, CitationSystem.ECHR, "6", parts=("1",)).terms
        ('art_6', 'art_6_1')
        """
        return terms_of(self.system, self.key, self.parts)

    def __str__(self) -> str:
        """The canonical form for readers."""
        number = f"{self.key}–{self.last}" if self.last else self.key
        if self.system is CitationSystem.PARAGRAPH:
            return f"§ {', '.join((number, *self.parts))}"
        if self.system is CitationSystem.EU_ACT:
            return f"{self.code} {number}"
        if self.system in _BARE or self.system is CitationSystem.US_CODE:
            number += "".join(f"({part})" for part in self.parts)
        elif self.parts:
            number += f", § {', '.join(self.parts)}"
        number = f"{_BARE[self.system]} {number}" if self.system in _BARE else number
        return f"{number} {self.code}" if self.code and self.code != PRESENT else number


PRESENT = "present"  # the code of the citing text
_BARE = {CitationSystem.ARTICLE: "art.", CitationSystem.ECHR: "art.", CitationSystem.SECTION: "§"}  # numbers within a law


@cached_if_short
def terms_of(system: CitationSystem, key: str, parts: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Index terms of an identifier; only word characters, so that the word pattern does not split them.

    >>> terms_of(CitationSystem.EU_CASE, "C-60/22"), terms_of(CitationSystem.US_CODE, "42 U.S.C. § 1983")
    (('c_60_22',), ('usc_42_1983',))
    """
    word = _word(key)
    if system in _BARE:
        article = f"{'sec' if system is CitationSystem.SECTION else 'art'}_{word}"
        return (article, f"{article}_{_word(parts[0])}") if parts else (article,)
    if system is CitationSystem.US_CODE:
        return (f"usc_{word.replace('_u_s_c____', '_')}",)
    if system in _TERM_PREFIX:
        return (f"{_TERM_PREFIX[system]}_{word}",)
    if system is CitationSystem.FRENCH_ARTICLE:
        return _terms_of_french_article(word, key)
    return (word,)


_TERM_PREFIX = {
    CitationSystem.EU_ACT: "act",
    CitationSystem.FRENCH_CASE: "no",
    CitationSystem.NEUTRAL: "report",
    CitationSystem.REPORT: "report",
    CitationSystem.PARAGRAPH: "par",
}


def _terms_of_french_article(word: str, key: str) -> tuple[str, ...]:
    """The article, and the title and chapter in its number: L1234-5 is in chapter 1234 of title 123.

    Title and chapter omit the letter, so that the laws (L) and decrees (R, D) of one chapter match.
    """
    chapter = _CHAPTER.match(key)
    if chapter is None:
        return (word if "_" in word else f"{word}_",)  # "l1" would be an ordinary word
    return (word, f"chapter_{chapter[1]}", f"title_{chapter[1][:-1]}")


_CHAPTER = re.compile(r"[A-Z]+\*?([0-9]{3,})-")


def _word(key: str) -> str:
    return _NO_LETTER.sub("_", key.lower())


_NO_LETTER = re.compile(r"\W")
