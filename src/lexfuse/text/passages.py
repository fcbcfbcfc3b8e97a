"""Passages: overlapping windows of words or tokens, or the numbered paragraphs of a judgment.

The defaults are those of BSARD (section 5): windows of 200 tokens that share 20.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lexfuse.errors import ConfigError
from lexfuse.text.paragraphs import paragraphs

Offsets = Callable[[str], Iterable[tuple[int, int]]]  # text -> start and end of every unit; a tokenizer's offsets fit

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a text, with the number of its paragraph if it has one.

    >>> Passage(0, 8, "12").of("12. Held")
    '12. Held'
    """

    start: int
    end: int
    number: str | None = None

    def of(self, text: str) -> str:
        """The text of the passage."""
        return text[self.start : self.end]


def word_offsets(text: str) -> list[tuple[int, int]]:
    """Start and end of every word; white space separates words.

    >>> word_offsets("art. 6")
    [(0, 4), (5, 6)]
    """
    return [found.span() for found in _WORD.finditer(text)]


def passages(text: str, *, size: int = 200, overlap: int = 20, unit: Offsets = word_offsets) -> list[Passage]:
    """Windows of ``size`` words that share ``overlap`` words with the previous one; they cover the whole text.

    ``unit`` may be another function from a text to the offsets of its tokens in order. Empty units (special tokens) do not count;
    text between two units belongs to the first.

    >>> text = "un deux trois quatre cinq"
    >>> [passage.of(text) for passage in passages(text, size=3, overlap=1)]
    ['un deux trois', 'trois quatre cinq']
    """
    _check(size, overlap)
    return _windows(text, 0, len(text), None, size=size, overlap=overlap, unit=unit)


def numbered_passages(text: str, *, size: int = 200, overlap: int = 20, unit: Offsets = word_offsets) -> list[Passage]:
    r"""One passage per numbered paragraph; one longer than ``size`` is split into windows with the same number.

    >>> text = "Facts\n1. The lease ended.\n2. Held."
    >>> [(passage.number, passage.of(text)) for passage in numbered_passages(text)]
    [(None, 'Facts'), ('1', '1. The lease ended.'), ('2', '2. Held.')]
    """
    _check(size, overlap)
    return [
        passage
        for paragraph in paragraphs(text)
        for passage in _windows(text, paragraph.start, paragraph.end, paragraph.number, size=size, overlap=overlap, unit=unit)
    ]


def _check(size: int, overlap: int) -> None:
    """Refuse windows that would be empty or never advance."""
    if size < 1:
        raise ConfigError(f"a passage needs a size of at least 1, got {size}; 200 is usual")
    if not 0 <= overlap < size:
        raise ConfigError(f"the overlap must be at least 0 and below the size {size}, got {overlap}; 20 is usual for 200")


def _windows(text: str, start: int, end: int, number: str | None, *, size: int, overlap: int, unit: Offsets) -> list[Passage]:
    """Windows of a piece of text, each without surrounding white space."""
    units = _units(text[start:end], unit)
    found = []
    for first in range(0, len(units), size - overlap):
        last = first + size >= len(units)
        begin = start + units[first][0] if first else start
        stop = end if last else start + max(units[first + size][0], units[first + size - 1][1])
        piece = text[begin:stop]
        if stripped := piece.strip():
            begin += len(piece) - len(piece.lstrip())
            found.append(Passage(begin, begin + len(stripped), number))
        if last:
            break
    return found


def _units(piece: str, unit: Offsets) -> list[tuple[int, int]]:
    """The units of a piece, checked to be in order and inside it; the whole piece if it has none."""
    found: list[tuple[int, int]] = []
    before = 0
    for start, end in unit(piece):
        if start == end:
            continue
        if not before <= start < end <= len(piece):
            raise ConfigError(
                f"a unit gave the offsets ({start}, {end}) after {before} in a text of {len(piece)} characters; "
                "offsets must be in order and inside the text, counted in characters"
            )
        found.append((start, end))
        before = start
    return found or [(0, len(piece))]
