"""How far a misspelt word is from a word: an edit distance in which common slips cost less.

Doubled letters, letters that sound alike, neighbours on the keyboard and exchanged letters are cheaper than other edits; an edit
of the first letter is dearer. Words are compared in lower case and without accents, so a wrong accent costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import accumulate, pairwise

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
_NONE: Mapping[str, float] = {}


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
    close, absent, added = _close(language), _missing(word), _missing(typed)
    before: list[float] = []  # the row before the row above
    above = list(accumulate(absent, initial=0.0))
    for down, (given, extra) in enumerate(zip(typed, added, strict=True)):
        left = above[0] + extra
        row, near = [left], close.get(given, _NONE)
        for across, wanted in enumerate(word):
            best = above[across]
            if given != wanted:
                cost = near.get(wanted, 1.0)
                best += cost if across or down else FIRST * cost
            if (other := above[across + 1] + extra) < best:
                best = other
            if (other := left + absent[across]) < best:
                best = other
            if down and across and given == word[across - 1] and typed[down - 1] == wanted:
                best = min(best, before[across - 1] + (EXCHANGED if given != wanted else 0.0))
            row.append(best)
            left = best
        if min(row) > most:
            return float("inf")
        before, above = above, row
    found = round(above[-1], 6)
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
def _close(language: str) -> dict[str, dict[str, float]]:
    """For every letter those that are easily taken for it, with the cost."""
    rows = _KEYBOARDS.get(language, _KEYBOARDS[""])
    pairs = [pair for row in rows for pair in pairwise(row)]
    pairs += [pair for one, other in pairwise(rows) for pair in zip(one, other, strict=False)]
    found: dict[str, dict[str, float]] = {}
    for cost, some in ((NEIGHBOUR, pairs), (SOUND, [(pair[0], pair[1]) for pair in _SOUNDS])):  # a sound is the cheaper slip
        for one, other in some:
            found.setdefault(one, {})[other] = found.setdefault(other, {})[one] = cost
    return found
