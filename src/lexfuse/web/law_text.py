"""The text of a document as blocks to show: paragraphs in marked pieces, and lines of cells as tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from lexfuse.service.schemas.document import DocumentMarks, DocumentParagraph, Span
from lexfuse.web.highlights import SegmentGroup, groups_of, segments_of

_WORD = re.compile(r"\w")
_AFTER = re.compile(r"\b[\s.):\]\\*–-]*")
_SECTION = re.compile(r"(?:[IVX]{1,5}|[A-Z])\. \S")
_ASIDE = re.compile(r"\s*\([^()]*\)")  # "(art. 6)" after an article in capitals
_RUBRIC = 140  # characters of a heading inside a text, at most
_LETTERS = 4  # of a heading in capitals, at least: initials are none
_CELL = "|"  # readers of HTML and of word processors put it between cells
NO_MARKS = DocumentMarks()


@dataclass(frozen=True, slots=True)
class LawBlock:
    """A paragraph, or rows of a table; `clause` is the position of its first paragraph in the document."""

    paragraphs: tuple[DocumentParagraph, ...]
    clause: int
    rows: tuple[tuple[str, ...], ...] = ()  # of a table

    @property
    def paragraph(self) -> DocumentParagraph:
        """The first paragraph."""
        return self.paragraphs[0]

    @property
    def rubric(self) -> int:
        """Of a heading inside the text of a decision its level: 1 in capitals, 2 with a letter or a numeral; otherwise 0."""
        text = self.paragraph.text.strip()
        if self.rows or self.paragraph.number or len(text) > _RUBRIC or text.endswith((".", ";", ",", ":")):
            return 0
        plain = _ASIDE.sub("", text)
        if plain.isupper() and sum(letter.isalpha() for letter in plain) >= _LETTERS:
            return 1
        return 2 if _SECTION.match(text) else 0


def law_blocks(paragraphs: Sequence[DocumentParagraph]) -> list[LawBlock]:
    """Paragraphs; at least two neighbours with the same number of cells are a table.

    >>> lines = ["Tarif", "| Livre | 14 jours", "| Disque | 7 jours"]
    >>> found = law_blocks([DocumentParagraph(anchor="s", number=None, span=(0, 1), text=line) for line in lines])
    >>> found[1].rows, found[1].clause
    ((('Livre', '14 jours'), ('Disque', '7 jours')), 2)
    """
    blocks: list[LawBlock] = []
    at = 1
    for cells, several in groupby(paragraphs, lambda one: len(_cells(one.text))):
        some = tuple(several)
        if cells > 1 and len(some) > 1:
            blocks.append(LawBlock(some, at, tuple(_cells(one.text) for one in some)))
        else:
            blocks += (LawBlock((one,), at + place) for place, one in enumerate(some))
        at += len(some)
    return blocks


def _cells(text: str) -> tuple[str, ...]:
    if _CELL not in text or "\n" in text:
        return (text,)
    return tuple(cell.strip() for cell in text.strip().strip(_CELL).split(_CELL))


def body_of(paragraph: DocumentParagraph, marks: DocumentMarks = NO_MARKS) -> list[SegmentGroup]:
    """The text of a paragraph in pieces, without its number, which is shown in the margin.

    Words that are searched for inside the document are marked; otherwise those of the question and the best passage.

    >>> [group] = body_of(DocumentParagraph(anchor="p64", number="64", span=(0, 12), text="64. The Court"))
    >>> [piece.text for piece in group.segments]
    ['The Court']
    """
    start, end = paragraph.span
    matches = _inside(marks.found or marks.matches, start, end)
    best = _inside([marks.best], start, end) if marks.best and not marks.found else []
    pieces = segments_of(paragraph.text, matches, best[0] if best else None, paragraph.citations)
    if paragraph.number and pieces and not pieces[0].target:
        pieces[0] = replace(pieces[0], text=_without(paragraph.number, pieces[0].text))
    return groups_of([piece for piece in pieces if piece.text])


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A paragraph with words that were searched for, and how many."""

    anchor: str
    label: str
    count: int


def found_places(paragraphs: Sequence[DocumentParagraph], marks: DocumentMarks) -> list[FoundPlace]:
    """The paragraphs that have words that were searched for.

    >>> paragraph = DocumentParagraph(anchor="s1", number=None, span=(0, 9), text="lease law")
    >>> found_places([paragraph], DocumentMarks(found=[(0, 5)]))
    [FoundPlace(anchor='s1', label='1', count=1)]
    """
    counted = ((at, one, len(_inside(marks.found, *one.span))) for at, one in enumerate(paragraphs, 1))
    return [FoundPlace(one.anchor, one.number or str(at), count) for at, one, count in counted if count]


def _inside(spans: Sequence[Span], start: int, end: int) -> list[tuple[int, int]]:
    """Spans that begin in a part of a text, counted from its beginning; the one that reaches into it too. Spans are in order."""
    first = bisect_left(spans, (start, start))
    if first and spans[first - 1][1] > start:
        first -= 1
    last = bisect_left(spans, (end, end))
    return [(max(one - start, 0), min(two, end) - start) for one, two in spans[first:last]]


def _without(number: str, text: str) -> str:
    """A text without its leading number and the punctuation around it, or the text itself."""
    at = text.find(number)
    rest = _AFTER.match(text, at + len(number)) if at >= 0 and not _WORD.search(text, 0, at) else None
    return text[rest.end() :] if rest else text
