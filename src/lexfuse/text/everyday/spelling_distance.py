"""How far a misspelt word is from a word: an edit distance in which common slips cost less.

Doubled letters, letters that sound alike, neighbours on the keyboard and exchanged letters are cheaper than other edits; an edit
of the first letter is dearer. Words are compared in lower case and without accents, so a wrong accent costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise

from lexfuse.text.short_text_cache import cached_if_short

DOUBLED = 0.5  # a letter once instead of twice, or twice instead of once
SOUND = 0.5  # a letter that sounds like the other
EXCHANGED = 0.7  # two letters in the wrong order
NEIGHBOUR = 0.7  # a key next to the right one
LAST = 0.7  # a letter too few or too many at the end, where French has silent ones
FIRST = 1.5  # factor of an edit of the first letter

_SOUNDS = ("cs", "sz", "ck", "cq", "kq", "gj", "iy", "mn", "ea", "vw", "tz")
_KEYBOARDS: Mapping[str, tuple[str, ...]] = {
    "fr": ("azertyuiop", "qsdfghjklm", "wxcvbn"),
    "de": ("qwertzuiop", "asdfghjkl", "yxcvbnm"),
    "": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
}


def longest_distance(length: int) -> float:
    """The distance up to which a word of this length is taken for a misspelling; short words are left alone.

    >>> longest_distance(3), longest_distance(5), longest_distance(12)
    (0.0, 1.0, 2.0)
    """
    return 0.0 if length < 4 else 1.0 if length < 6 else 1.5 if length < 8 else 2.0


def spelling_distance(typed: str, word: str, language: str = "", most: float = 2.0) -> float:
    """The cost of the slips that turn a word into what was typed; infinity if it is above `most`.

    >>> spelling_distance("licensiement", "licenciement"), spelling_distance("niut", "nuit"), spelling_distance("loi", "bail")
    (0.5, 0.7, inf)
    """
    if abs(len(typed) - len(word)) > most / DOUBLED:
        return float("inf")
    close, rows = _close(language), [[0.0] * (len(word) + 1) for _ in range(len(typed) + 1)]
    absent, added = _missing(word), _missing(typed)
    for across, cost in enumerate(absent):
        rows[0][across + 1] = rows[0][across] + cost
    for down in range(1, len(typed) + 1):
        row, above, extra = rows[down], rows[down - 1], added[down - 1]
        row[0] = above[0] + extra
        given = typed[down - 1]
        for across, wanted in enumerate(word, 1):
            best = above[across - 1]
            if given != wanted:
                factor = FIRST if across == 1 and down == 1 else 1.0
                best += factor * close.get((given, wanted), 1.0)
            best = min(best, above[across] + extra, row[across - 1] + absent[across - 1])
            if down > 1 and across > 1 and given == word[across - 2] and typed[down - 2] == wanted:
                best = min(best, rows[down - 2][across - 2] + (EXCHANGED if given != wanted else 0.0))
            row[across] = best
        if min(row) > most:
            return float("inf")
    found = round(rows[-1][-1], 6)
    return found if found <= most else float("inf")


@cached_if_short
def _missing(word: str) -> tuple[float, ...]:
    """The cost of leaving out each letter of a word."""
    last = len(word) - 1

    def cost(at: int) -> float:
        if (at and word[at - 1] == word[at]) or (at < last and word[at + 1] == word[at]):
            return DOUBLED
        return FIRST if at == 0 else LAST if at == last else 1.0

    return tuple(cost(at) for at in range(len(word)))


@cache
def _close(language: str) -> dict[tuple[str, str], float]:
    """The cost of every pair of letters that are easily taken for each other."""
    found: dict[tuple[str, str], float] = {}
    rows = _KEYBOARDS.get(language, _KEYBOARDS[""])
    for at, row in enumerate(rows):
        pairs = list(pairwise(row))
        pairs += list(zip(row, rows[at + 1], strict=False)) if at + 1 < len(rows) else []
        found |= _both_ways(pairs, NEIGHBOUR)
    return found | _both_ways(((one[0], one[1]) for one in _SOUNDS), SOUND)


def _both_ways(pairs: Iterable[tuple[str, str]], cost: float) -> dict[tuple[str, str], float]:
    return {pair: cost for one, other in pairs for pair in ((one, other), (other, one))}
