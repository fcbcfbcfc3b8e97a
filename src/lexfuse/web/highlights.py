"""Marks in a text: spans that may overlap become segments that do not, each with all that holds for it.

Nothing here writes markup: a segment is a piece of the text and what it is, and the segments' texts joined are the text.
Spans that reach beyond the text are cut at its ends, empty ones are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

from lexfuse.service.schemas.document import CitedDocument
from lexfuse.service.schemas.search import MarkedSpan


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A piece of a text.

    >>> TextSegment("loi", match=True).best
    False
    """

    text: str
    match: bool = False  # a word or citation of the query
    best: bool = False  # part of the sentence that answers best
    target: str = ""  # the document that a citation in the text means


@dataclass(frozen=True, slots=True)
class SegmentGroup:
    """Neighbouring segments that are all part of the best sentence, or all not: one element, marks inside.

    >>> SegmentGroup(True, (TextSegment("loi", best=True),)).best
    True
    """

    best: bool
    segments: tuple[TextSegment, ...]


def segments_of(
    text: str, matches: Sequence[tuple[int, int]] = (), best: tuple[int, int] | None = None, links: Sequence[CitedDocument] = ()
) -> list[TextSegment]:
    """The text in pieces at every place where something begins or ends.

    A citation is a link to the first document that it means; of citations that overlap, the first stands.

    >>> [(piece.text, piece.match, piece.best) for piece in segments_of("Si la loi. Non.", [(6, 9)], (0, 10))]
    [('Si la ', False, True), ('loi', True, True), ('.', False, True), (' Non.', False, False)]
    """
    end = len(text)
    marked, sentence = _Spans(_within(matches, end)), _Spans(_within([best] if best else [], end))
    cited = [(link.documents[0].id, span) for link in links if link.documents for span in _within([link.span], end)]
    linked = _Spans([span for _, span in cited])
    places = sorted({0, end, *marked.places, *sentence.places, *linked.places})
    pieces = []
    for start, stop in pairwise(places):
        at = linked.first(start, stop)
        target = "" if at is None else cited[at][0]
        pieces.append(
            TextSegment(text[start:stop], marked.first(start, stop) is not None, sentence.first(start, stop) is not None, target)
        )
    return _joined(pieces)


def groups_of(segments: Sequence[TextSegment]) -> list[SegmentGroup]:
    """Segments by whether they belong to the best sentence.

    >>> [group.best for group in groups_of(segments_of("Si la loi. Non.", [(6, 9)], (0, 10)))]
    [True, False]
    """
    groups: list[list[TextSegment]] = []
    for segment in segments:
        if groups and groups[-1][0].best == segment.best:
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return [SegmentGroup(group[0].best, tuple(group)) for group in groups]


def mark_groups(mark: MarkedSpan) -> list[SegmentGroup]:
    """What a template shows of a mark.

    >>> [piece.text for group in mark_groups(MarkedSpan(text="la loi", matches=[(3, 6)])) for piece in group.segments]
    ['la ', 'loi']
    """
    return groups_of(segments_of(mark.text, mark.matches, mark.best))


def _within(spans: Sequence[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    """Spans cut at the ends of the text; those that are then empty are left out."""
    cut = [(max(0, start), min(stop, end)) for start, stop in spans]
    return [(start, stop) for start, stop in cut if start < stop]


class _Spans:
    """Spans that are asked for pieces of the text from left to right, so that all pieces together cost one pass over them."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.places = {place for span in spans for place in span}
        self._coming = sorted(((*span, at) for at, span in enumerate(spans)), reverse=True)
        self._open: list[tuple[int, int]] = []  # a heap: number, end

    def first(self, start: int, stop: int) -> int | None:
        """The number of the first span that holds a piece, whose ends are among the places; None if there is none."""
        while self._coming and self._coming[-1][0] <= start:
            _, end, at = self._coming.pop()
            heappush(self._open, (at, end))
        while self._open and self._open[0][1] < stop:
            heappop(self._open)  # it ends before this piece does, and so before all that follow
        return self._open[0][0] if self._open else None


def _joined(pieces: Sequence[TextSegment]) -> list[TextSegment]:
    """Neighbours that are the same in all respects are one; two citations of one document stay one link."""
    joined: list[TextSegment] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and (last.match, last.best, last.target) == (piece.match, piece.best, piece.target):
            joined[-1] = TextSegment(last.text + piece.text, piece.match, piece.best, piece.target)
        else:
            joined.append(piece)
    return joined
