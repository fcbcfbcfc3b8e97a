"""Parts of the grammar of citations: regular expression sources for numbers, suffixes, lists and subdivisions."""

from __future__ import annotations

import re
import unicodedata

HYPHEN = "[-‐‑‒–−]"
LATIN = (
    "(?i:bis|ter|quater|quinquies|sexies|septies|octies|nonies|decies|undecies|duodecies|terdecies|"
    "quaterdecies|quindecies|sexdecies|septdecies|octodecies|novodecies|vicies)"
)
AND = r"(?:\s?,\s?(?:(?:et|and|ou|or)\s)?|\s(?:et|ou|and|or|&)\s)"
TO_WORD = r"\s(?:à|to|through)\s"
TO = rf"(?:{TO_WORD}|\s?{HYPHEN}\s?)"

# A letter after a number (L. 16 B, 39 bis A); roman numerals number the parts of an article instead.
LETTER = rf"(?:\s[A-HJ-UWYZ](?=\s(?:du|de|des|et|ou)\b|\s{LATIN}\b|\s?[,;)]|\.?\s*$))"

# What may follow the first digits of an article that has no letter: 1er, 16-1, 6.1, 21A, 31-B, 39 bis A, 1649 quater-0 B bis.
NUMBER_TAIL = (
    rf"(?:er\b|{HYPHEN}[0-9]+(?!°)|\.[0-9]{{1,2}}(?![0-9]))*(?:{HYPHEN}?[A-Z]{{1,2}}(?!\w))?"
    rf"(?:\s?{LATIN}\b(?:-[0-9]+)?)?{LETTER}?(?:\s{LATIN}\b)?"
)
# Atomic: (ii) is two letters and a roman numeral, so the readings of a row would double with each.
PLACE = r"(?>\((?:[0-9]{1,3}[a-z]{0,2}|[a-zA-Z]|[a-z]{2}|[ivxIVX]{2,5})\))"
_SMALL = r"[0-9]{1,3}(?![0-9])"
PLACES = (
    rf"(?:\s?{PLACE})*"
    rf"(?:,?\s?(?:§§|\bparagraph(?:e?s)\b|\bparas\b\.?)\s?{_SMALL}(?:(?:\s?,\s?|\s(?:and|et|to|à)\s|\s?{HYPHEN}\s?){_SMALL})*"
    rf"|,?\s?(?:§|\bparagraphe?\b|\bpara?\b\.?)\s?{_SMALL})?(?:\s?{PLACE})*"
)
SECTION = rf"[0-9]+[a-z]{{0,3}}(?:{HYPHEN}[0-9]+[a-z]{{0,2}})*"  # of the United States Code: 2000e-5, 78aa


def both_forms(pattern: str) -> str:
    r"""A pattern that matches accented letters composed (é) and decomposed (e and an accent).

    >>> bool(re.fullmatch(both_forms("à"), "a\u0300"))
    True
    """
    return re.sub("[àâäçéèêëîïôöùûü]", lambda letter: f"(?:{letter[0]}|{unicodedata.normalize('NFD', letter[0])})", pattern)


def plain_number(written: str) -> str:
    """One form of a number: plain hyphens, one space before a lower-case suffix, none between digit and letter.

    >>> plain_number("162–22‑3ter"), plain_number("1er"), plain_number("39 bis A"), plain_number("31-B"), plain_number("16 B")
    ('162-22-3 ter', '1', '39 bis A', '31B', '16B')
    """
    plain = _SPACES.sub(" ", _HYPHENS.sub("-", written)).strip()
    plain = _FIRST.sub("", _LETTER_APART.sub("", plain))
    return _SUFFIX.sub(lambda suffix: f" {suffix[1].lower()}", plain)


_SPACES = re.compile(r"\s+")
_HYPHENS = re.compile(HYPHEN)
_FIRST = re.compile(r"(?<=[0-9])er\b")
_LETTER_APART = re.compile(r"(?<=[0-9])[\s-](?=[A-Z])")
_SUFFIX = re.compile(rf"\s?((?<![^\W\d]){LATIN})\b")
