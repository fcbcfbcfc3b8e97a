r"""Numbered paragraphs of judgments, recognised by the sequence of their numbers.

Courts number the paragraphs of a judgment at the start of a line: ``12 The Court`` (CJEU), ``12. The applicant`` (ECHR), ``12\.
Leave`` (Indian judgments turned into Markdown), ``12 - La société``, ``§ 12`` or ``12)`` (French courts), ``[12]`` (common law).
A year, an amount or a list item looks the same, so a single line is ambiguous. The sequence is not: of all chains of ascending
numbers, the one with the most points is chosen, where

- every paragraph counts 1, and a little more if no other candidate is between it and the number before it;
- a gap in the numbers costs, so that a year or an amount is chosen only if a sequence continues from it;
- a change of style (``12`` after ``11.``) costs;
- entering a list costs: items from a ``1`` after a colon to the first that ends with a period.

Of equal chains, the one that starts first wins. A text with fewer than two such lines has no numbered paragraphs, except for a
single ``1.``; a chain that starts above 2, as in an extract, needs three.

`ParagraphMap` finds the paragraph of each place in any text. There a paragraph begins after a blank line (after any line break if
the text has no blank lines) and at each numbered paragraph. Text keeps the last number before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from lexfuse.data.arrays import I32, I64

LARGEST_GAP = 30  # paragraphs that may be missing in a row

# Points, as integers so that ties are exact.
STEP = 20
ADJACENT = 1
GAP_COST = 8
LARGEST_GAP_COST = 40
STYLE_COST = 10
LIST_COST = 10

_NUMBERED_LINE = re.compile(
    r"""^[^\S\n]*+(?:\*\*)?
    (?: \[(?P<square>\d{1,4})\]
      | §[^\S\n]?(?P<section>\d{1,4})(?:\.|(?=\s))
      | (?P<dot>\d{1,4})\\?\.(?!\d)
      | (?P<bracket>\d{1,4})\\?\)
      | (?P<dash>\d{1,4})[^\S\n]?[-–—](?=\s)
      | (?P<plain>\d{1,4})(?=\s+[^\s.,;:%/)\]*+=|-])
    )(?:\*\*)?\s*+(?=\S)""",
    re.VERBOSE | re.MULTILINE,
)
_BLANK = re.compile(r"\n\s*\n\s*")
_BREAK = re.compile(r"\n\s*")


class NumberingStyle(Enum):
    """How a number is written."""

    PLAIN = "plain"
    DOT = "dot"
    BRACKET = "bracket"
    DASH = "dash"
    SECTION = "section"
    SQUARE = "square"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a text; ``body`` is where the text after the number starts.

    >>> Paragraph("12", 0, 10, body=4).of("12. Leave.")
    'Leave.'
    """

    number: str | None  # None: the text before the first number
    start: int
    end: int
    body: int

    def of(self, text: str) -> str:
        """The paragraph without its number."""
        return text[self.body : self.end]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that may begin a paragraph."""

    number: int
    style: NumberingStyle
    start: int
    body: int
    listed: bool  # an item of a list after a colon


def paragraphs(text: str) -> list[Paragraph]:
    r"""The numbered paragraphs of a text in order, without the white space between them; they contain every word.

    >>> text = "Facts\n1. The lease.\n1976 was dry.\n2. He owed:\n1. rent,\n2. costs.\n3. Held."
    >>> [(p.number, p.of(text)) for p in paragraphs(text)]
    [(None, 'Facts'), ('1', 'The lease.\n1976 was dry.'), ('2', 'He owed:\n1. rent,\n2. costs.'), ('3', 'Held.')]
    """
    chain = _best_chain(_numbered_lines(text))
    starts = [line.start for line in chain] + [len(text)]
    found = []
    before = len(text) - len(text.lstrip())
    if before < starts[0]:
        found.append(Paragraph(None, before, _trimmed(text, before, starts[0]), before))
    for line, following in zip(chain, starts[1:], strict=True):
        found.append(Paragraph(str(line.number), line.start, _trimmed(text, line.body, following), line.body))
    return found


def _trimmed(text: str, start: int, end: int) -> int:
    """The end without the white space before it."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _numbered_lines(text: str) -> list[_Line]:
    """Every line that starts with something like a paragraph number."""
    lines: list[_Line] = []
    for found in _NUMBERED_LINE.finditer(text):
        style = found.lastgroup or ""
        start = found.end() - len(found.group().lstrip())
        number = int(found[style])
        before = _last_character(text, start)
        follows = bool(lines) and lines[-1].listed and lines[-1].number == number - 1 and before != "."
        listed = follows or (number == 1 and before == ":")
        lines.append(_Line(number, NumberingStyle(style), start, found.end(), listed))
    return lines


def _last_character(text: str, end: int) -> str:
    """The last character before a place, ignoring white space."""
    end = _trimmed(text, 0, end)
    return text[end - 1] if end else ""


def _best_chain(lines: list[_Line]) -> list[_Line]:
    """The chain of ascending numbers with the most points; of equal ones, the one that starts first."""
    ranks: list[tuple[int, int]] = []  # best chain that ends at each line: points, minus its first line
    before: list[int] = []  # the previous line in that chain; -1: none
    last_of_number: dict[int, int] = {}  # number -> the line with this number whose chain is best
    for place, line in enumerate(lines):
        rank, previous = (STEP - (LIST_COST if line.listed else 0), -place), -1
        for other in _possible_before(line, place, lines, last_of_number):
            adjacent = ADJACENT if other == place - 1 and lines[other].number == line.number - 1 else 0
            reached = (ranks[other][0] + _step(lines[other], line) + adjacent, ranks[other][1])
            if reached > rank:
                rank, previous = reached, other
        ranks.append(rank)
        before.append(previous)
        known = last_of_number.get(line.number)
        if known is None or rank > ranks[known]:
            last_of_number[line.number] = place
    return _plausible(_followed_back(lines, ranks, before))


def _possible_before(line: _Line, place: int, lines: list[_Line], last_of_number: dict[int, int]) -> Iterator[int]:
    """The lines that may precede a line in a chain: the best of each lower number, and the previous line."""
    if place and lines[place - 1].number == line.number - 1:
        yield place - 1
    for number in range(line.number - 1, line.number - LARGEST_GAP - 2, -1):
        if number in last_of_number:
            yield last_of_number[number]


def _step(first: _Line, second: _Line) -> int:
    """The points that a chain gains by going from one line to the next."""
    points = STEP - min(GAP_COST * (second.number - first.number - 1), LARGEST_GAP_COST)
    points -= STYLE_COST if first.style is not second.style else 0
    points -= LIST_COST if second.listed and not first.listed else 0
    return points


def _followed_back(lines: list[_Line], ranks: list[tuple[int, int]], before: list[int]) -> list[_Line]:
    """The lines of the chain with the highest rank, in order."""
    chain = []
    place = ranks.index(max(ranks)) if ranks else -1
    while place >= 0:
        chain.append(lines[place])
        place = before[place]
    return chain[::-1]


def _plausible(chain: list[_Line]) -> list[_Line]:
    """The chain, or nothing if it is too short to be convincing."""
    if len(chain) == 1 and (chain[0].number != 1 or chain[0].style is NumberingStyle.PLAIN):
        return []
    if len(chain) == 2 and chain[0].number > 2:
        return []
    return chain


@dataclass(frozen=True, slots=True)
class TextParagraph:
    """A paragraph: its ordinal from 0, start and end, and its number or the last one before it, if any."""

    at: int
    start: int
    end: int
    number: str | None


class ParagraphMap:
    r"""The paragraphs of a text.

    >>> layout = ParagraphMap("Facts\n1. The lease.\n\n2. Held. He won.")
    >>> [(one.number, one.start) for one in layout.paragraphs]
    [(None, 0), ('1', 6), ('2', 21)]
    >>> layout.of([6, 30]).tolist()
    [1, 2]
    """

    def __init__(self, text: str) -> None:
        """Find the paragraphs."""
        numbered = [one for one in paragraphs(text) if one.number is not None]
        gaps = (_BLANK if _BLANK.search(text.strip()) else _BREAK).finditer(text)
        starts = sorted({0, *(gap.end() for gap in gaps if gap.end() < len(text)), *(one.start for one in numbered)})
        ends = [*starts[1:], len(text)]
        number_at = np.searchsorted([one.start for one in numbered], starts, side="right") - 1
        self.paragraphs = tuple(
            TextParagraph(at, start, start + len(text[start:end].rstrip()), numbered[own].number if own >= 0 else None)
            for at, (start, end, own) in enumerate(zip(starts, ends, number_at.tolist(), strict=True))
        )
        self._starts: I64 = np.array(starts, dtype=np.int64)

    def of(self, places: Sequence[int] | I32 | I64) -> I64:
        """The ordinals of the paragraphs at these places."""
        return np.searchsorted(self._starts, np.asarray(places, dtype=np.int64), side="right") - 1
