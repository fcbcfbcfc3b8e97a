"""Identifiers of law in canonical form, one reader for each kind of scanner match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from lexfuse.text.citation.citation import CitationSystem, terms_of
from lexfuse.text.citation.grammar import AND, HYPHEN, NUMBER_TAIL, PLACE, PLACES, SECTION, TO, TO_WORD, both_forms, plain_number
from lexfuse.text.short_text_cache import cached_if_short


class Identifier(NamedTuple):
    """One identifier found by the scanner; `start` includes its prefix (``L. ``, ``EU:C:``)."""

    start: int
    end: int
    system: CitationSystem
    key: str
    parts: tuple[str, ...] = ()
    kind: str = ""  # of an EU act: directive, regulation, decision
    ranges: bool = False  # a range from the previous item to this one: articles 6 à 9

    @property
    def terms(self) -> tuple[str, ...]:
        """Index terms, the same for every spelling."""
        return terms_of(self.system, self.key, self.parts)


def identifiers_of(match: re.Match[str]) -> list[Identifier]:
    """The identifiers of one scanner match; none if the context shows that it is not a citation.

    >>> from lexfuse.text.citation.scanner import IDENTIFIER
    >>> [item.key for item in identifiers_of(IDENTIFIER.search("articles 6, 8 et 13"))]
    ['6', '8', '13']
    """
    return _READERS[str(match.lastgroup)](match)


_FRENCH_PREFIX = re.compile(r"(L\.?\s?[OPop]|[LRDAlrda])\.?\s?(\*?)\.?\s?$")
_USUAL_PREFIXES = frozenset({"L. ", "R. ", "D. "})
_USUAL = re.compile(r"[LRD]\. [0-9]+(?:-[0-9]+)+")
_FRENCH_NEXT = re.compile(both_forms(rf"((?:{AND}|{TO_WORD})(?=[0-9]))"))
_FRENCH_TO = re.compile(both_forms(TO_WORD))
_LIST_STEP = r"(?:\s?,\s?|\s)(?:(?:et|ou|à|and|or|to)\s)?"
_ARTICLE_BEFORE = re.compile(
    both_forms(rf"\b(?:articles?|arts?\.?)\s?(?:[LRDA]\.?\s?\*?\s?[0-9][\w*-]*(?:\s[a-z]+\b)?{_LIST_STEP})*$"), re.IGNORECASE
)
_ARTICLE_NEAR = re.compile(both_forms(rf"(?:\b(?:voir|see|cf\.)\s|\(|\b[LRD]\.\s?\*?\s?[0-9][\w*-]*(?:\s\w+)?{_LIST_STEP})$"))
_LIST_AFTER = re.compile(both_forms(r"(?:\s?,\s?|\s(?:et|ou|à|and|or|to)\s)[LRD]\.\s?\*?\s?[0-9]"))
_CODE_AFTER = re.compile(r"\s(?:du\s(?![0-9])|de\s(?:la|ce)\s|de\sl|C\.\s)")
_BEFORE = 100  # characters looked back for the word "article" or another article of the list


@cached_if_short
def usual_terms(spelled: str) -> tuple[str, ...]:
    """Index terms of an article in its most frequent spelling, a citation in any context; none for others.

    >>> usual_terms("L. 1234-5"), usual_terms("L. 5")
    (('l1234_5', 'chapter_1234', 'title_123'), ())
    """
    return terms_of(CitationSystem.FRENCH_ARTICLE, spelled[0] + spelled[3:]) if _USUAL.fullmatch(spelled) else ()


def follows_initial(text: str, begin: int) -> bool:
    """Whether an initial precedes a place, as in law reports and names: S. C. R. 747, J. L. 12-3.

    >>> follows_initial("S. C. R. 747", 6)
    True
    """
    return text[begin - 2 : begin - 1] == "." and text[begin - 3 : begin - 2].isupper()


class _Reading(NamedTuple):
    """How a French article is written: the length of its prefix, its numbers, and what makes it a citation."""

    back: int
    numbers: tuple[tuple[int, int, str, bool], ...]  # start, end, key, whether it ends a range
    certain: bool  # a citation anywhere; if false, only after "article", in a list or before "du code"
    dotted: bool


def _french(match: re.Match[str]) -> list[Identifier]:
    text, start = match.string, match.start()
    before = 3 if text[start - 3 : start] in _USUAL_PREFIXES else min(start, 7)  # a short key has more cache hits
    reading = _french_reading(text[start - before : match.end()], before)
    begin = start - reading.back
    if not (reading.certain or _is_cited(text, begin, match.end(), reading)):
        return []
    if reading.dotted and follows_initial(text, begin):
        return []
    if len(reading.numbers) == 1:
        return [Identifier(begin, match.end(), CitationSystem.FRENCH_ARTICLE, reading.numbers[0][2])]
    return [
        Identifier(start + first if place else begin, start + last, CitationSystem.FRENCH_ARTICLE, key, ranges=ranges)
        for place, (first, last, key, ranges) in enumerate(reading.numbers)
    ]


def _is_cited(text: str, begin: int, end: int, reading: _Reading) -> bool:
    """Whether the context shows that a short number like L1 or R. 5 is an article."""
    if _CODE_AFTER.match(text, end) or _ARTICLE_BEFORE.search(text, max(0, begin - _BEFORE), begin):
        return True
    if reading.dotted and text[begin] in "LRD":
        near = _LIST_AFTER.match(text, end) or _ARTICLE_NEAR.search(text, max(0, begin - _BEFORE), begin)
        return begin == 0 or near is not None
    return text[begin] in "LRD" and _filled(text) == (begin, end)


@lru_cache(maxsize=8)  # asked repeatedly for one text
def _filled(text: str) -> tuple[int, int]:
    """Where a text begins and ends without white space."""
    return len(text) - len(text.lstrip()), len(text.rstrip())


@cached_if_short
def _french_reading(spelled: str, at: int) -> _Reading:
    """Read the prefix and the numbers that begin at ``at``; cached, since articles repeat often.

    A letter given once applies to the whole list: L. 1234-1, 1234-2 à 1234-5.
    """
    prefix, written = _FRENCH_PREFIX.search(spelled, 0, at), spelled[at:]
    if prefix is None:  # pragma: no cover -- the pattern looks back at one
        raise AssertionError(spelled)
    letter = re.sub(r"[.\s]", "", prefix[1])
    dotted = "." in prefix.group() or prefix[2] != ""
    numbers, begin, ranges = [], 0, False
    for place, piece in enumerate(_FRENCH_NEXT.split(written)):
        if place % 2 == 0:
            numbers.append((begin, begin + len(piece), f"{letter.upper()}{prefix[2]}{plain_number(piece)}", ranges))
        ranges = place % 2 == 1 and _FRENCH_TO.fullmatch(piece) is not None
        begin += len(piece)
    first = re.match(rf"([0-9]+){HYPHEN}", written)
    certain = first is not None and ((dotted and letter[0].isupper()) or (len(first[1]) > 2 and letter not in "Aa"))
    return _Reading(at - prefix.start(), tuple(numbers), certain, dotted)


_BARE = re.compile(both_forms(rf"(?P<to>{TO})?(?P<number>[0-9]+{NUMBER_TAIL})(?P<parts>{PLACES})"))
_PLACE = re.compile(r"\(([0-9a-zA-Z]+)\)|([0-9]+)")
_SIMPLE = re.compile(r"([0-9]+)((?:\([0-9a-zA-Z]+\))*)")
_AHEAD = 20  # lookahead of the grammar of a number, in characters


def _articles(match: re.Match[str]) -> list[Identifier]:
    if simple := _simple_article(match.group()):
        return [Identifier(match.start(), match.end(), CitationSystem.ARTICLE, *simple)]
    items = []
    for piece in _BARE.finditer(match.string, match.start(), match.end() + _AHEAD):
        if piece.start("number") >= match.end():
            break
        number, _, point = plain_number(piece["number"]).partition(".")
        parts = (point, *_places(piece["parts"])) if point else _places(piece["parts"])
        items.append(
            Identifier(piece.start("number"), piece.end(), CitationSystem.ARTICLE, number, parts, ranges=piece["to"] is not None)
        )
    return items


@cached_if_short
def _simple_article(written: str) -> tuple[str, tuple[str, ...]] | None:
    """Number and subdivisions of the frequent forms 14 and 19(1)(g); none for others."""
    simple = _SIMPLE.fullmatch(written)
    return (simple[1], _places(simple[2])) if simple else None


def _places(written: str) -> tuple[str, ...]:
    return tuple(place[1] or place[2] for place in _PLACE.finditer(written)) if written else ()


_SECTION = re.compile(rf"({SECTION})((?:{PLACE})*)")
_US_HEAD = re.compile(r"[0-9]{1,2}[^0-9]+(?<!\s[0-9])")


def _us_code(match: re.Match[str]) -> list[Identifier]:
    title = re.match("[0-9]+", match.group())
    head = _US_HEAD.match(match.string, match.start(), match.end())
    if title is None or head is None:  # pragma: no cover -- the pattern begins with both
        return []
    items: list[Identifier] = []
    for section in _SECTION.finditer(match.string, head.end(), match.end()):
        start = section.start() if items else match.start()
        items.append(_us_item(start, section.end(), title.group(), section))
    return items


def _us_words(match: re.Match[str]) -> list[Identifier]:
    """Section 1983 of title 42, United States Code."""
    section = _SECTION.match(match.string, match.start(), match.end())
    title = re.search(r"itle\s([0-9]+)", match.group())
    if section is None or title is None:  # pragma: no cover -- the pattern has both
        return []
    return [_us_item(match.start(), match.end(), title[1], section)]


def _us_item(start: int, end: int, title: str, section: re.Match[str]) -> Identifier:
    key = f"{title} U.S.C. § {plain_number(section[1])}"
    return Identifier(start, end, CitationSystem.US_CODE, key, _places(section[2]))


def _celex(match: re.Match[str]) -> list[Identifier]:
    return [Identifier(match.start(), match.end(), CitationSystem.CELEX, match.group().upper())]


_ECLI_HEAD = re.compile(r"(?<![\w:])(?:ECLI:\s?)?([A-Z]{2}:[A-Z0-9]{1,7}):$", re.IGNORECASE)
_ECLI_EU = re.compile(r"[0-9]{4}:[0-9]+")


def _ecli(match: re.Match[str]) -> list[Identifier]:
    head = _ECLI_HEAD.search(match.string, max(0, match.start() - 20), match.start())
    if head is None:
        return []
    number = match.group()
    if head[1][:3].upper() == "EU:" and (digits := _ECLI_EU.match(number)):
        number = digits.group()  # a full stop may follow without a space
    return [Identifier(head.start(), match.start() + len(number), CitationSystem.ECLI, f"ECLI:{head[1]}:{number}".upper())]


_CASE = re.compile(r"([0-9]{1,4})/([0-9]{2,4})[^,0-9]*")
_OPINION = re.compile(r"(?:Opinion|[Aa]vis)\s$")
_JOURNAL = re.compile(r"\b(?:OJ|JO)(?:\s[0-9]{4})?,?\s?$")


def _case(match: re.Match[str]) -> list[Identifier]:
    """C-60/22, and the following numbers without the letter: C-92/09 et 93/09."""
    text, start = match.string, match.start()
    while text[start - 1] not in "CTFctf":
        start -= 1
    start -= 1
    if _JOURNAL.search(text, max(0, start - 10), start):
        return []
    return [*_cases(match, text[start].upper(), start)]


def _old_case(match: re.Match[str]) -> list[Identifier]:
    """Cases before 1989 have no letter: Case 26/62 is C-26/62 today. Opinions never had one."""
    opinion = _OPINION.search(match.string, max(0, match.start() - 8), match.start())
    return [*_cases(match, "Opinion" if opinion else "C", opinion.start() if opinion else match.start())]


def _cases(match: re.Match[str], court: str, start: int) -> Iterator[Identifier]:
    for one in _CASE.finditer(match.string, match.start(), match.end()):
        end = one.end() if one.end() == match.end() else one.end(2)
        first = one.start() == match.start()
        key = f"{court}{' ' if court == 'Opinion' else '-'}{int(one[1])}/{one[2][-2:]}"
        yield Identifier(start if first else one.start(), end, CitationSystem.EU_CASE, key)


_ACT_KINDS = {
    "directive": "directive",
    "regulation": "regulation",
    "règlement": "regulation",
    "re\u0300glement": "regulation",
    "decision": "decision",
    "décision": "decision",
    "de\u0301cision": "decision",
}
_COMMUNITY = "(?:EEC|EC|EU|CEE|CE|UE|ECSC|CECA|Euratom)"
_ACT_WORD = re.compile(
    rf"(?P<kind>{'|'.join(_ACT_KINDS)})s?(?:-cadre)?(?:\s(?:d['’]ex(?:é|e\u0301)cution|d(?:é|e\u0301)l(?:é|e\u0301)gu(?:é|e\u0301)e?))?"
    rf"\s(?:\(?{_COMMUNITY}(?:,\s?{_COMMUNITY})*\)?\s)?(?:n(?:os?|[°º])\.?\s?)?$",
    re.IGNORECASE,
)
_ACT_NUMBER = re.compile(r"([0-9]{1,4}/[0-9]{1,4})(/[A-Za-z]+)?")
_ECLI_AFTER = re.compile(r"\s?,?\s?\(?(?:not\spublished,\s)?(?:ECLI:)?EU:[CTF]:[0-9]")
_LONGEST_ACT_WORD = 48


def _act(match: re.Match[str]) -> list[Identifier]:
    """An EU act or, before an ECLI, a case without its letter: Reyners, 2/74, EU:C:1974:68."""
    text, start = match.string, match.start()
    word = _ACT_WORD.search(text, max(0, start - _LONGEST_ACT_WORD), start)
    numbers = [*_ACT_NUMBER.finditer(text, start, match.end())]
    if word is None and _ECLI_AFTER.match(text, match.end()):
        return _old_case(match)
    kind = _ACT_KINDS[word["kind"].lower()] if word else "directive"
    return [
        Identifier(
            word.start() if word and place == 0 else number.start(), number.end(), CitationSystem.EU_ACT, number[1], kind=kind
        )
        for place, number in enumerate(numbers)
        if word or number[2]
    ]


_POURVOI = re.compile(r"(?:\bpourvois?|\bn(?:os?|[°º])\.?)\s?(?:[A-Z]\s?)?$", re.IGNORECASE)


def _french_case(match: re.Match[str]) -> list[Identifier]:
    year, number = re.split(HYPHEN, match.group())
    if "." not in number and not _POURVOI.search(match.string, max(0, match.start() - 12), match.start()):
        return []
    return [Identifier(match.start(), match.end(), CitationSystem.FRENCH_CASE, f"{year}-{number[:2]}.{number[-3:]}")]


_READERS: Mapping[str, Callable[[re.Match[str]], list[Identifier]]] = {
    "french": _french,
    "article": _articles,
    "articles": _articles,
    "us_code": _us_code,
    "us_words": _us_words,
    "celex": _celex,
    "ecli": _ecli,
    "case": _case,
    "old_case": _old_case,
    "act": _act,
    "french_case": _french_case,
}
