"""What the scanner's matches mean: identifiers of law in canonical form, one reader for each kind of match."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from lexfuse.text.citation import System, terms_of
from lexfuse.text.spellings import HYPHEN, LATIN, NUMBER_TAIL, PLACES, TO, both_forms, plain_number


class Item(NamedTuple):
    """One identifier as the scanner sees it; `start` includes its own prefix (``L. ``, ``EU:C:``).

    >>> Item(0, 9, System.FRENCH_ARTICLE, "L1234-5").ranges
    False
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

        >>> Item(0, 9, System.FRENCH_ARTICLE, "L1234-5").terms
        ('l1234_5',)
        """
        return terms_of(self.system, self.key, self.parts)


def items_of(match: re.Match[str]) -> list[Item]:
    """The identifiers of one match of the scanner; none when what stands around the number makes it something else.

    >>> from lexfuse.text.scan import IDENTIFIER
    >>> [item.key for item in items_of(IDENTIFIER.search("articles 6, 8 et 13"))]
    ['6', '8', '13']
    """
    return _READERS[match.lastgroup](match)  # type: ignore[index]  # every branch of the pattern is named


# --- French articles ---------------------------------------------------------------------------------------------------

_FRENCH_PREFIX = re.compile(r"(L\.?\s?[OPop]|[LRDAlrda])\.?\s?(\*?)\.?\s?$")
_FRENCH_PIECE = re.compile(rf"(?P<to>{both_forms(TO)})?(?P<number>[0-9]+[^,&]*?)(?:(?={both_forms(TO)}[0-9]+-)|\s?,\s?|\s(?:et|and|ou|or|&)\s|$)")
_INITIAL = re.compile(r"[A-Z]\.\s?$")
_ARTICLE_BEFORE = re.compile(
    both_forms(
        rf"(?:^|[(«]\s?|\b(?:articles?|arts?\.?|voir|see|cf\.)\s?|"
        rf"\b[LRDA]\.?\s?\*?\s?[0-9]+(?:-[0-9]+)*(?:\s{LATIN}|\s[A-Z])?(?:\s?,\s?|\s)(?:(?:et|ou|à|and|or|to)\s)?(?:(?:à|de|aux?|des)\s)?)$"
    ),
    re.IGNORECASE,
)
_CODE_AFTER = re.compile(r"\s(?:du\s(?!\d)|de\sl|C\.\s)")
_CONTEXT = 24


class _Reading(NamedTuple):
    """How a French article was written: length of its prefix, its numbers, and what it takes to be one."""

    back: int
    numbers: tuple[tuple[int, int, str, bool], ...]  # start, end, key, ranges
    certain: bool  # a citation wherever it stands, else only after "article", in a list or before "du code"
    dotted: bool


def _french(match: re.Match[str]) -> list[Item]:
    text, start = match.string, match.start()
    reading = _french_reading(text[max(0, start - 7) : start], match.group())
    if reading is None:
        return []
    begin = start - reading.back
    if reading.dotted and _INITIAL.search(text, max(0, begin - 4), begin):
        return []  # S. C. R. 747, L. R. 59
    if not (
        reading.certain
        or _ARTICLE_BEFORE.search(text[max(0, begin - _CONTEXT) : begin] if begin >= _CONTEXT else text[:begin])
        or _CODE_AFTER.match(text, match.end())
    ):
        return []
    if len(reading.numbers) == 1:
        return [Item(begin, match.end(), System.FRENCH_ARTICLE, reading.numbers[0][2])]
    return [
        Item(begin if place == 0 else start + first, start + last, System.FRENCH_ARTICLE, key, ranges=ranges)
        for place, (first, last, key, ranges) in enumerate(reading.numbers)
    ]


@lru_cache(maxsize=65536)
def _french_reading(before: str, written: str) -> _Reading | None:
    """Read prefix and numbers; kept, since a code's articles come again and again."""
    prefix = _FRENCH_PREFIX.search(before)
    if prefix is None:
        return None
    letter = re.sub(r"[.\s]", "", prefix[1])
    dotted = "." in prefix.group() or prefix[2] != ""
    head = f"{letter.upper()}{prefix[2]}"
    pieces = [*_FRENCH_PIECE.finditer(written)] if re.search(r",|\s", written) else []
    if len(pieces) > 1:
        numbers = tuple((p.start("number"), p.end("number"), head + plain_number(p["number"]), p["to"] is not None) for p in pieces)
    else:
        numbers = ((0, len(written), head + plain_number(written), False),)
    hyphenated = re.match(rf"([0-9]+){HYPHEN}", written)
    certain = hyphenated is not None and (
        (dotted and letter.isupper())
        or (letter in "LRDlLOLP" and len(hyphenated[1]) > 2)
        or (letter in "rd" and len(hyphenated[1]) > 2)
        or letter in ("l", "LO", "LP")
    )
    return _Reading(len(before) - prefix.start(), numbers, certain, dotted)


# --- Articles without a letter -----------------------------------------------------------------------------------------

_BARE = re.compile(both_forms(rf"(?P<to>{TO})?(?P<number>[0-9]+{NUMBER_TAIL})(?P<parts>{PLACES})"))
_PLACE_WORDS = re.compile(r"paragraphe?s?|paras?\b|par\b|and|et|to|à")


def _articles(match: re.Match[str]) -> list[Item]:
    items = []
    text = match.group() + (" du" if match.string[match.end() : match.end() + 2].isspace() else "")
    return [*_bare_items(match, text)] or items
