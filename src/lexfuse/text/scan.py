"""The scanner of citations: every identifier of law in a text, by one regular expression.

Every identifier has a digit, so the expression starts at the first digit of a number and looks back
for what makes it a citation (``L. ``, ``C-``, ``article ``). Digits are rare in prose: scanning for them
costs a few per cent of tokenising, where a pattern that starts with letters costs more than all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from lexfuse.text.citation import System, terms_of

HYPHEN = "[-‐‑‒–−]"
LATIN = (
    "(?:bis|ter|quater|quinquies|sexies|septies|octies|nonies|decies|undecies|duodecies|terdecies|"
    "quaterdecies|quindecies|sexdecies|septdecies|octodecies|novodecies|vicies)"
)
_EU_SUFFIX = "(?:/(?:EEC|EC|EU|CEE|CE|UE|Euratom|EURATOM|JHA|JAI|ECSC|CECA))"
_REGISTER = r"(?:P\(R\)|PPU|P|R|RENV|AJ|OP|SA|REV|DEP)"
_AND = r"(?:\s?,\s?(?:(?:et|and|ou|or)\s)?|\s(?:et|ou|and|or)\s)"
_TO = rf"(?:\s(?:à|to|through)\s|\s?{HYPHEN}\s?)"
_BARE = (
    rf"(?:er\b|{HYPHEN}[0-9]+|\.[0-9]{{1,2}}(?![0-9]))*(?:[A-Z]{{1,2}}(?!\w))?(?:\s?{LATIN}\b)?(?:\s[A-Z](?=\s(?:du|de|des)\b))?"
    r"(?:\s?\([0-9a-zA-Z]{1,4}\))*(?:,?\s?(?:§{1,2}|\bparagraphe?\b|\bpar\.)\s?[0-9]{1,3}(?![0-9]))?"
)


def _behind(*forms: str) -> str:
    """A number (its first digit is read already) that comes right after one of these forms."""
    return "(?:" + "|".join(rf"(?<=(?<![\w.]){form}[0-9])" for form in forms) + ")"


def _after_prefix() -> str:
    """The ways to set the letters of a French article before its number.

    They are grouped by what stands right before the number: one cheap look back refuses most numbers.
    """
    glued = _behind("[LRDAlrda]", "L[OP]")
    dotted = _behind(r"[LRDAlrda]\.", r"L\.[OP]\.", r"[LRD]\*\.")
    starred = _behind(r"[LRD]\*", r"[LRD]\.\*", r"[LRD]\.\s\*", r"[LRD]\s\*")
    spaced = _behind(r"[LRDAlrda]\s", r"[LRDAlrda]\.\s", r"[LRD]\*\s", r"[LRD]\.\*\s", r"[LRD]\.\s\*\s", r"[LRD]\*\.\s")
    special = _behind(r"L[OP]\s", r"L[OP]\.\s", r"L\.[OP]\.\s", r"L\.\s[OP]\.\s")
    return (
        rf"(?:(?<=[LRDAOPlrda][0-9]){glued}|(?<=\.[0-9]){dotted}|(?<=\*[0-9]){starred}"
        rf"|(?<=[LRDAOPlrda.*]\s[0-9])(?:{spaced}|{special}))"
    )


_ARTICLE = _behind(r"[Aa]rticle\s", r"ARTICLE\s", r"[Aa]rt\.\s", r"[Aa]rt\s", r"ART\.\s")
_ARTICLE_GLUED = _behind(r"[Aa]rt\.")
_ARTICLES = _behind(r"[Aa]rticles\s", r"ARTICLES\s", r"[Aa]rts\.\s", r"[Aa]rts\s")
_COURT = _behind(f"[CTFctf]{HYPHEN}", "[CTF]", rf"[CTFctf]{HYPHEN}\s", r"[CTF]\s")
_CASE_WORD = _behind(r"[Cc]ase\s", r"[Cc]ases\s", r"[Aa]ffaire\s", r"[Aa]ffaires\s", r"[Aa]ffaires\sjointes\s", r"[Aa]ff\.\s")

IDENTIFIER = re.compile(
    rf"""
    [0-9](?<![0-9][0-9])(?:
        (?P<french>{_after_prefix()}[0-9]*(?:{HYPHEN}[0-9]+(?![0-9]*°))*
            (?:\s?{LATIN}\b)?(?:\s[A-Z](?=\s(?:du|de|des|et|ou)\b|\s?[,;)]))?)
      | (?P<case>(?<=[CTF‐‑‒–−\s-][0-9])(?=[0-9]{{0,3}}/){_COURT}[0-9]{{0,3}}/(?:19|20)?[0-9]{{2}}(?![0-9/])(?:\s{_REGISTER}(?!\w))?)
      | (?P<old_case>(?<=[es.]\s[0-9])(?=[0-9]{{0,3}}/){_CASE_WORD}[0-9]{{0,3}}/[0-9]{{2}}(?![0-9/])(?:{_AND}[0-9]{{1,4}}/[0-9]{{2}}(?![0-9/]))*)
      | (?P<articles>(?<=[sS.]\s[0-9]){_ARTICLES}[0-9]*{_BARE}(?:(?:{_AND}|{_TO})[0-9]+{_BARE}(?![\w°]))*)
      | (?P<article>(?:(?<=[eEtT.]\s[0-9]){_ARTICLE}|(?<=t\.[0-9]){_ARTICLE_GLUED})[0-9]*{_BARE})
      | (?P<ecli>(?<=:[0-9])[0-9]{{3}}:[A-Za-z0-9.]*[A-Za-z0-9])
      | (?<!\w[0-9])(?=[0-9]{{0,4}}(?:/|\s?U|[A-Z]|{HYPHEN}[0-9]{{2}}[.\s]))(?:
            (?P<us_code>[0-9]?\s?U\.?\s?S\.?\s?C\.?(?:\s?A\.?)?\s?(?:§{{1,2}}\s?|[Ss]ec(?:tions?|s?\.)\s)?
                [0-9]+[a-z]{{0,3}}(?:{HYPHEN}[0-9]+[a-z]?)?(?:\([0-9a-zA-Z]{{1,4}}\))*
                (?:{_AND}[0-9]+[a-z]{{0,3}}(?:{HYPHEN}[0-9]+)?(?:\([0-9a-zA-Z]{{1,4}}\))*(?![\w./°]))*)
          | (?P<celex>[0-9]{{4}}[A-Z]{{1,2}}[0-9]{{3,4}}(?:\([0-9]{{2}}\))?(?!\w))
          | (?P<act>(?<![/.,-][0-9])[0-9]{{0,3}}/[0-9]{{1,4}}(?:{_EU_SUFFIX}|(?![0-9/])))
          | (?P<french_case>[0-9]{HYPHEN}[0-9]{{2}}[.\s][0-9]{{3}}(?![0-9]))
        )
    )
    """,
    re.VERBOSE,
)


class Item(NamedTuple):
    """One identifier as the scanner sees it; `start` includes its own prefix (``L. ``, ``EU:C:``).

    >>> next(scan("l'article L. 1234-5")).key
    'L1234-5'
    """

    start: int
    end: int
    system: System
    key: str
    parts: tuple[str, ...] = ()
    kind: str = ""  # of an EU act: directive, regulation, decision
    ranges: bool = False  # runs from the item before to this one: articles 6 à 9

    @property
    def terms(self) -> tuple[str, ...]:
        """Index terms, the same for every spelling.

        >>> next(scan("art. L.1234-5")).terms
        ('l1234_5',)
        """
        return terms_of(self.system, self.key, self.parts)


def scan(text: str) -> Iterator[Item]:
    """Identifiers in order of place.

    >>> [(item.system.value, item.key) for item in scan("C‑60/22, EU:C:2023:373; art. 6 § 1; 42 USC 1983")]
    [('eu case', 'C-60/22'), ('ecli', 'ECLI:EU:C:2023:373'), ('article', '6'), ('us code', '42 U.S.C. § 1983')]
    """
    for match in IDENTIFIER.finditer(text):
        yield from items_of(match)


def items_of(match: re.Match[str]) -> list[Item]:
    """The identifiers of one match; none when what stands before the number makes it something else.

    >>> [item.key for item in items_of(IDENTIFIER.search("articles 6, 8 et 13"))]
    ['6', '8', '13']
    """
    group = match.lastgroup
    if group is None:  # pragma: no cover -- every branch of the pattern is named
        return []
    return _READERS[group](match)


_FRENCH_PREFIX = re.compile(r"(L\.?\s?[OP]|[LRDAlrda])\.?\s?(\*?)\.?\s?$")
_ARTICLE_WORD = re.compile(r"\b(?:article|art\.?|articles|arts\.?)\s?$", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


def _french(match: re.Match[str]) -> list[Item]:
    text, start = match.string, match.start()
    read = _french_key(text[max(0, start - 7) : start], match.group())
    if read is None:
        return []
    back, key, certain = read
    if not certain and not _ARTICLE_WORD.search(text, max(0, start - back - 12), start - back):
        return []
    return [Item(start - back, match.end(), System.FRENCH_ARTICLE, key)]


@lru_cache(maxsize=65536)
def _french_key(before: str, written: str) -> tuple[int, str, bool] | None:
    """Length of the prefix, canonical key, and whether it is a citation even without the word "article".

    The code's articles come again and again, so the answer is kept: reading them twice would double the scan.
    """
    prefix = _FRENCH_PREFIX.search(before)
    if prefix is None:
        return None
    letter = re.sub(r"[.\s]", "", prefix[1])
    number = _number(written)
    dotted = "." in prefix.group() or prefix[2] != ""
    certain = "-" in number or (dotted and letter in ("L", "R", "D", "LO", "LP"))
    return len(before) - prefix.start(), f"{letter.upper()}{prefix[2]}{number}", certain


@lru_cache(maxsize=65536)
def _number(written: str) -> str:
    """One form of a number: plain hyphens, lower-case suffix after one space."""
    plain = re.sub(HYPHEN, "-", _SPACE.sub(" ", written))
    return re.sub(rf"([0-9])\s?({LATIN})$", r"\1 \2", plain)


_SPLIT_BARE = re.compile(
    rf"(?P<to>{_TO})?(?P<number>[0-9]+(?:er\b|{HYPHEN}[0-9]+)*(?:\.[0-9]{{1,2}}(?![0-9]))?[A-Z]{{0,2}}(?:\s?{LATIN}\b)?"
    rf"(?:\s[A-Z](?=\s(?:du|de|des)\b))?)"
    r"(?P<parts>(?:\s?\([0-9a-zA-Z]{1,4}\))*(?:,?\s?(?:§{1,2}|paragraphe?|par\.)\s?[0-9]{1,3})?)"
)


def _articles(match: re.Match[str]) -> list[Item]:
    items = []
    for piece in _SPLIT_BARE.finditer(match.string, match.start(), match.end()):
        number = _number(piece["number"]).replace("er", "")
        number, _, point = number.partition(".")
        parts = (point,) if point else ()
        if piece["parts"]:
            parts += tuple(re.findall(r"[0-9a-zA-Z]+", re.sub(r"paragraphe?|par\.", "", piece["parts"])))
        items.append(Item(piece.start("number"), piece.end(), System.ARTICLE, number, parts, ranges=piece["to"] is not None))
    return items


def _us_code(match: re.Match[str]) -> list[Item]:
    title, rest = re.split(r"\s?U\.?\s?S\.?\s?C\.?(?:\s?A\.?)?\s?", match.group(), maxsplit=1)
    at = match.end() - len(rest)
    items = []
    for section in re.finditer(rf"([0-9]+[a-z]{{0,3}}(?:{HYPHEN}[0-9]+[a-z]?)?)((?:\([0-9a-zA-Z]{{1,4}}\))*)", rest):
        start = match.start() if not items else at + section.start()
        parts = tuple(re.findall(r"\w+", section[2]))
        key = f"{title} U.S.C. § {re.sub(HYPHEN, '-', section[1])}"
        items.append(Item(start, at + section.end(), System.US_CODE, key, parts))
    return items


def _celex(match: re.Match[str]) -> list[Item]:
    return [Item(match.start(), match.end(), System.CELEX, match.group())]


_ECLI_HEAD = re.compile(r"(?<![\w:])(?:ECLI:)?([A-Z]{2}:[A-Z0-9]{1,7}):$", re.IGNORECASE)


def _ecli(match: re.Match[str]) -> list[Item]:
    head = _ECLI_HEAD.search(match.string, max(0, match.start() - 18), match.start())
    if head is None:
        return []
    return [Item(head.start(), match.end(), System.ECLI, f"ECLI:{head[1]}:{match.group()}".upper())]


def _case(match: re.Match[str]) -> list[Item]:
    text, start = match.string, match.start()
    while text[start - 1] not in "CTFctf":
        start -= 1
    return [Item(start - 1, match.end(), System.EU_CASE, _case_key(text[start - 1].upper(), match.group()))]


def _case_key(court: str, written: str) -> str:
    number, year = re.split(r"[/\s]", written)[:2]
    return f"{court}-{int(number)}/{year[-2:]}"


def _old_case(match: re.Match[str]) -> list[Item]:
    """Cases from before 1989 have no letter: Case 26/62 is C-26/62 in today's form."""
    return [
        Item(one.start(), one.end(), System.EU_CASE, _case_key("C", one.group()))
        for one in re.compile(r"[0-9]+/[0-9]{2}").finditer(match.string, match.start(), match.end())
    ]


_ACT_WORD = re.compile(
    r"(?P<kind>directive|regulation|decision|règlement|décision)s?\s"
    r"(?:\((?:EEC|EC|EU|CEE|CE|UE|Euratom|, ?)+\)\s)?(?:n(?:os?|[°º])\.?\s?)?$",
    re.IGNORECASE,
)
_ACT_KINDS = {"directive": "directive", "regulation": "regulation", "règlement": "regulation", "decision": "decision", "décision": "decision"}


def _act(match: re.Match[str]) -> list[Item]:
    word = _ACT_WORD.search(match.string, max(0, match.start() - 40), match.start())
    number, *suffix = re.split(r"/(?=[A-Z])", match.group(), maxsplit=1, flags=re.IGNORECASE)
    if word is None and not suffix:
        return []
    kind = _ACT_KINDS[word["kind"].lower()] if word else "directive"
    return [Item(word.start() if word else match.start(), match.end(), System.EU_ACT, number, kind=kind)]


def _french_case(match: re.Match[str]) -> list[Item]:
    key = re.sub(r"\s", ".", re.sub(HYPHEN, "-", match.group()))
    return [Item(match.start(), match.end(), System.FRENCH_CASE, key)]


_READERS = {
    "french": _french,
    "article": _articles,
    "articles": _articles,
    "us_code": _us_code,
    "celex": _celex,
    "ecli": _ecli,
    "case": _case,
    "old_case": _old_case,
    "act": _act,
    "french_case": _french_case,
}
