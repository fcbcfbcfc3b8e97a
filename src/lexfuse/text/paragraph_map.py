"""The paragraph of each place in a text.

A paragraph begins after a blank line (after any line break if the text has no blank lines) and at each numbered paragraph
(`lexfuse.text.paragraphs`). Text keeps the last number before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import I32, I64
from lexfuse.text.paragraphs import paragraphs

_BLANK = re.compile(r"\n\s*\n\s*")
_BREAK = re.compile(r"\n\s*")


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
