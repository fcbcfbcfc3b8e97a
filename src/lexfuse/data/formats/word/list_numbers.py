"""The automatic numbers of DOCX paragraphs: Word stores how a list counts, not the numbers that it shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

_PLACE = re.compile(r"%([1-9])")
_DEEPEST = 9
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"),
          (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LARGEST = 3999


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How one level of a list counts: its format, the text around its number, and where it starts."""

    format: str
    text: str
    start: int = 1


@dataclass(slots=True)
class ListNumbers:
    """The lists of a file, and how far each has counted.

    >>> numbers = ListNumbers({"1": {0: ListLevel("decimal", "%1."), 1: ListLevel("lowerLetter", "(%2)")}}, {"7": "1"})
    >>> [numbers.next("7", level) for level in (0, 1, 1, 0, 1)]
    ['1.', '(a)', '(b)', '2.', '(a)']
    """

    levels: Mapping[str, Mapping[int, ListLevel]]  # by the abstract list
    lists: Mapping[str, str]  # the abstract list of each list
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)

    def next(self, number: str, level: int) -> str:
        """The number of the next paragraph on a level of a list; ``""`` for a bullet or an unknown list."""
        abstract = self.lists.get(number, "")
        levels = self.levels.get(abstract, {})
        own = levels.get(level)
        if own is None:
            return ""
        counts = self._counts.setdefault(abstract, {})
        counts[level] = counts.get(level, own.start - 1) + 1
        for deeper in range(level + 1, _DEEPEST):
            counts.pop(deeper, None)

        def shown(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            wanted = levels.get(at)
            return "" if wanted is None else _written(counts.get(at, wanted.start), wanted.format)

        return "" if own.format in ("bullet", "none") else _PLACE.sub(shown, own.text).strip()


def list_numbers(root: Element | None) -> ListNumbers:
    """The lists that ``word/numbering.xml`` defines."""
    if root is None:
        return ListNumbers({}, {})
    levels = {
        abstract.get("abstractNumId", ""): {
            at: ListLevel(_value(level, "numFmt"), _value(level, "lvlText"), whole(_value(level, "start"), 1))
            for level in abstract.iter("lvl")
            if 0 <= (at := whole(level.get("ilvl", ""), -1)) < _DEEPEST
        }
        for abstract in root.iter("abstractNum")
    }
    return ListNumbers(levels, {one.get("numId", ""): _value(one, "abstractNumId") for one in root.findall("num")})


def whole(text: str, otherwise: int) -> int:
    """The whole number in an attribute, or a default where it has none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else otherwise


def _value(parent: Element, tag: str) -> str:
    found = parent.find(tag)
    return "" if found is None else found.get("val", "")


def _written(number: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter") and number > 0:  # z is followed by aa, bb
        letters = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
        return letters if form == "lowerLetter" else letters.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < number <= _LARGEST:
        text = ""
        for value, sign in _ROMAN:
            text += sign * (number // value)
            number %= value
        return text if form == "lowerRoman" else text.upper()
    return str(number)
