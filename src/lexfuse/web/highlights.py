"""Marks in a text: overlapping spans become segments that do not overlap.

A segment is a piece of the text with its properties; the pieces together are the text. Templates write the markup. Spans beyond
the text are cut at its ends, and empty ones are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

from lexfuse.service.schemas.document import CitedDocument
from lexfuse.service.schemas.explanation import AlignedParagraph
from lexfuse.service.schemas.search import MarkedSpan

SHORT = 150  # characters of a snippet where several are next to each other
EXCERPT = 500  # characters of a paragraph that is compared with another one


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A piece of a text."""

    text: str
    match: bool = False  # a word or citation of the query
    best: bool = False  # part of the best sentence
    target: str = ""  # the document that a citation refers to


@dataclass(frozen=True, slots=True)
class SegmentGroup:
    """Adjacent segments that are all inside or all outside the best sentence."""

    best: bool
    segments: tuple[TextSegment, ...]


def segments_of(
    text: str, matches: Sequence[tuple[int, int]] = (), best: tuple[int, int] | None = None, links: Sequence[CitedDocument] = ()
) -> list[TextSegment]:
    """The text, divided wherever a mark begins or ends.

    A citation links to the first document it refers to; of overlapping citations the first is used.

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
    """The groups of a marked span, for templates.

    >>> [piece.text for group in mark_groups(MarkedSpan(text="la loi", matches=[(3, 6)])) for piece in group.segments]
    ['la ', 'loi']
    """
    return groups_of(segments_of(mark.text, mark.matches, mark.best))


def shortened(mark: MarkedSpan, limit: int = SHORT) -> MarkedSpan:
    """A marked span of whole words and at most about `limit` characters, from its best sentence or its first match on.

    >>> short = shortened(MarkedSpan(text="Une phrase. La loi dispose pour l'avenir.", matches=[(15, 18)], best=(12, 41)), 20)
    >>> short.text, short.matches, short.best, short.cut_before, short.cut_after
    ('La loi dispose pour', [(3, 6)], (0, 19), True, True)
    """
    text, end = mark.text, len(mark.text)
    if end <= limit:
        return mark
    start = mark.best[0] if mark.best else 0
    match = next((match for match in mark.matches if match[0] >= start), None)
    if match and match[1] > start + limit:
        start = text.find(" ", match[0] - limit // 3) + 1
    start = min(start, text.rfind(" ", 0, end - limit) + 1)
    stop = end if end - start <= limit + 1 else text.rfind(" ", start + 1, start + limit)
    stop = stop if stop > start else min(end, start + limit)
    moved = _within([(first - start, last - start) for first, last in mark.matches], stop - start)
    best = _within([(mark.best[0] - start, mark.best[1] - start)], stop - start) if mark.best else []
    return MarkedSpan(
        text=text[start:stop],
        matches=moved,
        best=best[0] if best else None,
        cut_before=mark.cut_before or start > 0,
        cut_after=mark.cut_after or stop < end,
    )


def excerpt_of(paragraph: AlignedParagraph) -> MarkedSpan:
    """The part of a long paragraph that shares words with the other one of its pair; a short one is whole.

    >>> excerpt_of(AlignedParagraph(number="1", text="The loan was late.", span=(0, 18), matches=[(4, 8)])).text
    'The loan was late.'
    """
    return shortened(MarkedSpan(text=paragraph.text, matches=paragraph.matches), EXCERPT)


def _within(spans: Sequence[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    """Spans cut at the ends of the text, without empty ones."""
    cut = [(max(0, start), min(stop, end)) for start, stop in spans]
    return [(start, stop) for start, stop in cut if start < stop]


class _Spans:
    """Spans for lookups from left to right: all lookups together take one pass."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.places = {place for span in spans for place in span}
        self._coming = sorted(((*span, at) for at, span in enumerate(spans)), reverse=True)
        self._open: list[tuple[int, int]] = []  # a heap: number, end

    def first(self, start: int, stop: int) -> int | None:
        """The number of the first span that contains a piece between two places, or None."""
        while self._coming and self._coming[-1][0] <= start:
            _, end, at = self._coming.pop()
            heappush(self._open, (at, end))
        while self._open and self._open[0][1] < stop:
            heappop(self._open)  # it ends before this piece and all later ones
        return self._open[0][0] if self._open else None


def _joined(pieces: Sequence[TextSegment]) -> list[TextSegment]:
    """Merge adjacent pieces with equal properties; two citations of one document become one link."""
    joined: list[TextSegment] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and (last.match, last.best, last.target) == (piece.match, piece.best, piece.target):
            joined[-1] = TextSegment(last.text + piece.text, piece.match, piece.best, piece.target)
        else:
            joined.append(piece)
    return joined
