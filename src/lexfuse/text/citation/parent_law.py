"""The code, treaty or law that an article belongs to, from the words around its number.

The name follows the number, after subdivisions (``article L. 1, alinéa 2, du code du travail``), or precedes it (``C. trav., art.
L. 1``). Laws that are not codes are recognised too, so that their article 12 is not taken for one of a code.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from lexfuse.text.citation.citation import PRESENT
from lexfuse.text.citation.code_names import EUROPEAN_CONVENTION, code_pattern, full_code, plain_pattern, plain_text
from lexfuse.text.citation.grammar import HYPHEN

_LONGEST_NAME = 100
_ORDINAL = "(?:premier|première|deuxième|second|seconde|troisième|quatrième|cinquième|dernier|avant-dernier)"
# Subdivisions between a number and its code: ", alinéa 2,", " (1°)", ", deuxième alinéa", " et suivants", ", (b) and (c)".
FILLER = (
    rf"(?:\s?,?\s?\([0-9]{{1,2}}°\)|{HYPHEN}[0-9]+°|\s?,?\s(?:et\ss(?:uivants?|uiv\.|\.)|(?:et|ff?)\sseq\.?|I{{1,3}}|IV|VI{{0,3}}|IX|X"
    rf"|[0-9]{{1,2}}°(?:\s(?:et|à|ou)\s[0-9]{{1,2}}°)*|[a-z]\)|(?:alinéas?|al\.)\s?[0-9]+(?:er)?(?:\s(?:et|à|ou)\s[0-9]+)?"
    rf"|{_ORDINAL}\salinéa|(?:(?:and|et|or|ou|to|à)\s)?\([0-9a-z]{{1,3}}\)))*\s?,?"
)
# Words between a number and the name of its text: few, and unambiguous ("ledit" is "le" and "dit").
_OF = (
    r"(?:du|des|de|of|under|au|à|in|dudit|d['’])\s?(?:(?:la|le|l['’]|les|the|that|this|those|these|its|said|same|"
    r"ce|cet|cette|ces|mêmes?|ladite|dit)\s?){0,8}\[?"
)
_LAW_NUMBER = r"(?:\sn[°º]\s?[0-9][0-9-]*(?:\sdu\s[0-9]{1,2}(?:er)?\s\w+\s[0-9]{4})?|\sdu\s[0-9]{1,2}(?:er)?\s\w+\s[0-9]{4})"
_LAW = (
    r"(?:loi|décret(?:-loi)?|ordonnance|arrêté|règlement|instruction|accord|traité|statut|annexe|protocole)\b"
    rf"(?:(?:\s\w+){{0,2}}?{_LAW_NUMBER})?(?!\w)"
)
_PHRASE = (
    r"\s(?:de|du|des|of|on|for|implementing|relating\sto|relative|applying|concerning|sur)\s(?:(?:the|à|la|le|les)\s|l['’])*"
    r"(?-i:[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*){0,3}|[a-z][\w-]*)"
)
_OTHER = (
    r"(?:[\w-]+\s){0,2}?(?:directive|regulation|decision|décision|convention|agreement|accord|act|law|treaty|charter|charte|"
    rf"rules|statute|annex|order|decree)s?\b(?:{_PHRASE}){{0,2}}"
)
_EUROPEAN = (
    r"(?:European\s)?(?-i:Convention|CONVENTION)(?:\seuropéenne)?"
    r"(?!\s(?:implementing|of\b|on\b|relating|concerning|signed|applying|for\b|d[eu]s?\b|d['’]|relative|internationale|collective|nationale|sur\b))"
)
_PROTOCOL = r"Protocole?\s(?:additionnel\s)?(?:[Nn]o\.?\s?|n[°º]\s?)?(?P<protocol_number>[0-9]{1,2})(?![\w/])"
# A code that is not listed ends after its noun or an adjective: "renvoie" is not in the name "code des bibliothèques".
_ADJECTIVE = (
    r"(?!(?:s['’]|(?:in|ex|im|ap)(?:dique|plique)|communique|pratique|fait|dont)\w*\b)"
    r"[\w-]+(?:aux|ales?|els?|elles?|iques?|ifs?|ives?|aires?|iles?|eures?|iers?|ières?|iens?|iennes?|ains?|aines?|euses?|bles?)\b"
)
_UNKNOWN = rf"code\s(?:de\sla\s|d[eu]s?\s|de\sl['’]|d['’])[\w'’-]+(?:\s{_ADJECTIVE})?|(?-i:(?:[A-Z]\w+\s){{1,3}}Code\b)"
_SAME = r"code(?=\W|$)(?!\s(?:d[eu]s?\b|de\sl|d['’]|g[ée]n|civ|p[ée]n|rur|mon|[ée]l|for|min))"
LARGEST_CONVENTION_ARTICLE = 59
_PLAIN = re.compile(r"\b(?:du|of\sthe)\s(?=code)", re.IGNORECASE)
SAME = "même code"  # "du même code" in a text that names no code before


@dataclass(frozen=True, slots=True)
class ParentLaw:
    """The text that articles belong to, and where its name ends in the citing text.

    >>> parent_law_of("article 6 CEDH", 0, 9).european
    True
    """

    code: str = ""
    end: int = 0
    european: bool = False  # the European Convention on Human Rights or one of its protocols


def parent_law_of(text: str, start: int, end: int) -> ParentLaw:
    """The text that the articles at this place belong to.

    >>> parent_law_of("l'article 1240 du code civil", 2, 14).code
    'code civil'
    """
    plain = plain_text(text)
    after = _after().match(plain, end)
    if after is None:
        ahead = _before().search(plain, max(0, start - _LONGEST_NAME), start)
        return _named(text[slice(*ahead.span(1))], end) if ahead else ParentLaw("", end)
    if after["present"]:
        return ParentLaw(PRESENT, after.end())
    if after["same"]:
        before = bisect_left(mentions(text), start, key=lambda mention: mention.start)
        named = mentions(text)[before - 1].name if before else PRESENT if _PLAIN.search(after.group()) else SAME
        return ParentLaw(named, after.end())
    if after["protocol"]:
        return ParentLaw(f"Protocol {after['protocol_number']}", after.end(), european=True)
    if after["european"]:
        return ParentLaw("ECHR", after.end(), european=True)
    group = next(name for name in ("code", "unknown", "law", "other") if after[name])
    return _named(text[slice(*after.span(group))], after.end())


class Mention(NamedTuple):
    """A code named in a text, with or without an article.

    >>> mentions("le code du travail")[0].name
    'code du travail'
    """

    start: int
    end: int
    name: str  # `PRESENT` for "le présent code"


@lru_cache(maxsize=8)  # asked repeatedly for one text, by several threads
def mentions(text: str) -> tuple[Mention, ...]:
    """The codes named in a text, in text order.

    >>> [mention.name for mention in mentions("au livre II du code civil et au présent code")]
    ['code civil', 'present']
    """
    found = _mention().finditer(plain_text(text))
    return tuple(
        Mention(m.start(), m.end(), " ".join(text[m.start() : m.end()].split()) if m["name"] else PRESENT) for m in found
    )


def _named(name: str, end: int) -> ParentLaw:
    european = full_code(name) == EUROPEAN_CONVENTION
    return ParentLaw("ECHR" if european else " ".join(name.split()), end, european)


@cache
def _after() -> re.Pattern[str]:
    return re.compile(
        plain_pattern(
            rf"{FILLER}\s\(?(?:"
            rf"(?:(?:du|de\sla|des)\s)?(?P<present>présente?s?\s(?:code|livre|titre|chapitre|section|loi)\b)"
            rf"|(?:{_OF})?(?:(?P<code>{code_pattern()}|Constitution(?:\s(?:of|de)\s(?:la\s)?\w+)?)|(?P<unknown>{_UNKNOWN}))"
            rf"|{_OF}(?:(?P<same>{_SAME})|(?P<protocol>{_PROTOCOL})|(?P<european>{_EUROPEAN})|(?P<law>{_LAW})|(?P<other>{_OTHER})))"
        ),
        re.IGNORECASE,
    )


@cache
def _mention() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:(?P<name>{code_pattern()})|present\scode\b)", re.IGNORECASE)


@cache
def _before() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)({code_pattern()})\s?[,:]?\s?$", re.IGNORECASE)
