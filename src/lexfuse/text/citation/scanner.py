"""The scanner of citations: every identifier of law in a text, by one regular expression.

Every identifier has a digit, so the expression starts at the first digit of a number and looks behind for what makes it a
citation (``L. ``, ``C-``, ``article ``). Digits are rare in prose: scanning for them costs a few per cent of tokenising, while a
pattern that starts with letters costs more than all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lexfuse.deadline import check
from lexfuse.text.citation.grammar import AND, HYPHEN, LATIN, LETTER, NUMBER_TAIL, PLACE, PLACES, SECTION, TO, TO_WORD, both_forms
from lexfuse.text.citation.identifiers import Identifier, identifiers_of

_EU_SUFFIX = "(?:/(?:EEC|EC|EU|CEE|CE|UE|Euratom|EURATOM|JHA|JAI|ECSC|CECA))"
_REGISTER = r"(?:P\(R\)|PPU|P|R|RENV|AJ|OP|SA|REV|DEP)"


def _behind(*forms: str) -> str:
    """A number (its first digit is already read) directly after one of these forms."""
    return "(?:" + "|".join(rf"(?<=(?<![\w.\u0300-\u036f]){form}[0-9])" for form in forms) + ")"


def _after_prefix() -> str:
    """The spellings of the letters before the number of a French article.

    They are grouped by the character before the number: one cheap lookbehind rejects most numbers.
    """
    glued = _behind("[LRDAlrda]", "L[OPop]")
    dotted = _behind(r"[LRDAlrda]\.", r"L[OPop]\.", r"L\.[OP]\.", r"[LRD]\*\.") + r"|(?<=[Aa]rt\.[LRDA]\.[0-9])"
    starred = _behind(r"[LRD]\*", r"[LRD]\.\*", r"[LRD]\.\s\*", r"[LRD]\s\*")
    spaced = _behind(
        r"[LRDAlrda]\s", r"[LRDAlrda]\.\s", r"[LRD]\*\s", r"[LRD]\.\*\s", r"[LRD]\.\s\*\s", r"[LRD]\s\*\s", r"[LRD]\*\.\s"
    )
    special = _behind(r"L[OPop]\s", r"L[OPop]\.\s", r"L\.[OP]\.\s", r"L\.\s[OP]\.\s") + r"|(?<=[Aa]rt\.[LRDA]\.\s[0-9])"
    return (
        rf"(?:(?<=[LRDAOPlrdaop][0-9]){glued}|(?<=\.[0-9])(?:{dotted})|(?<=\*[0-9]){starred}"
        rf"|(?<=[LRDAOPlrdaop.*]\s[0-9])(?:{spaced}|{special}))"
    )


_ARTICLE = _behind(r"[Aa]rticle\s", r"ARTICLE\s", r"[Aa]rt\.\s", r"[Aa]rt\s", r"ART\.\s")
_ARTICLE_GLUED = _behind(r"[Aa]rt\.")
_ARTICLES = _behind(r"[Aa]rticles\s", r"ARTICLES\s", r"[Aa]rts\.\s", r"[Aa]rts\s")
_COURT = _behind(f"[CTFctf]{HYPHEN}", "[CT]", rf"[CTFctf]{HYPHEN}\s", r"[CTF]\s")
_CASE_WORD = _behind(
    *(r"[Cc]ase\s", r"[Cc]ases\s", r"[Aa]ffaire\s", r"[Aa]ffaires\s", r"[Aa]ffaires\sjointes\s", r"[Aa]ff\.\s"),
    *(r"Opinion\s", r"[Aa]vis\s"),
)
_US_CODE = r"(?:U\.?\s?S\.?\s?C\.?(?:\s?[AS]\.?)?|u\.?s\.?c\.?|United\sStates\sCode,?)"
_SECTION = rf"{SECTION}(?:{PLACE})*"
_SECTIONS = r"(?:§§\s?|[Ss]ec(?:tions|s\.)\s)"
_ONE_SECTION = r"(?:§\s?|[Ss]ec(?:tion|\.)\s)?"

IDENTIFIER = re.compile(
    both_forms(
        rf"""
    [0-9](?<![0-9][0-9])(?:
        (?P<french>{_after_prefix()}[0-9]*(?:er\b)?(?:{HYPHEN}[0-9]++(?!°))*(?:\s?{LATIN}\b)?(?:[A-Z]\b|{LETTER})?(?![A-Z](?![a-zé])|[0-9_])
            (?:(?:{AND}|{TO_WORD})[0-9]+(?:{HYPHEN}[0-9]+)+(?![\w°/]|\.[0-9])(?:\s{LATIN}\b)?)*)
      | (?P<case>(?<=[CTF‐‑‒–−\s-][0-9])(?=[0-9]{{0,3}}/){_COURT}
            [0-9]{{0,3}}/(?:19|20)?[0-9]{{2}}(?![0-9/])(?:\s{_REGISTER}(?!\w))?
            (?:{AND}[0-9]{{1,4}}/[0-9]{{2}}(?![0-9/])(?:\s{_REGISTER}(?!\w))?)*)
      | (?P<old_case>(?<=[ens.]\s[0-9])(?=[0-9]{{0,3}}/){_CASE_WORD}
            [0-9]{{0,3}}/[0-9]{{2}}(?![0-9/])(?:{AND}[0-9]{{1,4}}/[0-9]{{2}}(?![0-9/]))*)
      | (?P<articles>(?<=[sS.]\s[0-9]){_ARTICLES}[0-9]*{NUMBER_TAIL}{PLACES}
            (?:(?:{AND}|{TO})[0-9]+{NUMBER_TAIL}{PLACES}(?![\w°]))*)
      | (?P<article>(?:(?<=[eEtT.]\s[0-9]){_ARTICLE}|(?<=t\.[0-9]){_ARTICLE_GLUED})[0-9]*{NUMBER_TAIL}{PLACES})
      | (?P<us_words>(?<=n\s[0-9])(?<=[Ss]ection\s[0-9])[0-9]*[a-z]{{0,3}}(?:{HYPHEN}[0-9]+)?(?:{PLACE})*
            ,?\s(?:of\s)?[Tt]itle\s[0-9]{{1,2}},?\s(?:of\sthe\s)?(?:United\sStates|U\.?\s?S\.?)\sCode)
      | (?P<ecli>(?<=:[0-9])[0-9]{{3}}:[A-Za-z0-9.]*[A-Za-z0-9])
      | (?<![^\W°º][0-9])(?=[0-9]{{0,4}}(?:/|\s?[Uu]|[A-Za-z]|{HYPHEN}[0-9]{{2}}[.\s0-9]))(?:
            (?P<us_code>[0-9]?\s?{_US_CODE}\s?(?:{_SECTIONS}{_SECTION}(?:{AND}{_SECTION}(?![\w./°]|\s?U\.?\s?S))*|{_ONE_SECTION}{_SECTION}))
          | (?P<celex>(?:19|20)[0-9]{{2}}[A-Za-z]{{1,2}}[0-9]{{3,4}}(?:R?\([0-9]{{2}}\)|-[0-9]{{8}})?(?!\w))
          | (?P<act>(?<![/.,-][0-9])[0-9]{{0,3}}/[0-9]{{1,4}}(?:{_EU_SUFFIX}|(?![0-9/]))
                (?:{AND}(?:[Nn]o\s|n[°º]\s?)?[0-9]{{1,4}}/[0-9]{{2,4}}(?:{_EU_SUFFIX}|(?![0-9/])))*)
          | (?P<french_case>[0-9]{HYPHEN}[0-9]{{2}}[.\s]?[0-9]{{3}}(?![\w]))
        )
    )
    """
    ),
    re.VERBOSE,
)


def scan(text: str) -> Iterator[Identifier]:
    """Identifiers in text order.

    >>> [(item.system.value, item.key) for item in scan("C‑60/22, EU:C:2023:373; art. 6 § 1; 42 USC 1983")]
    [('eu case', 'C-60/22'), ('ecli', 'ECLI:EU:C:2023:373'), ('article', '6'), ('us code', '42 U.S.C. § 1983')]
    """
    for match in IDENTIFIER.finditer(text):
        check()
        yield from identifiers_of(match)
