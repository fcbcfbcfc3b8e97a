"""Where the operands of an expression occur in one segment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lexfuse.data.arrays import I32, I64
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.position_file import PositionFile
from lexfuse.storage.segments.segment import LEXICAL, Segment
from lexfuse.text.query_language.expression import Operand, OperandKind, ProximityUnit

WrittenWord = tuple[str, tuple[str, ...]]  # a word without case and accents, and its terms


class ReadOperand(NamedTuple):
    """An operand, and the words that the analyser reads in it."""

    operand: Operand
    words: tuple[WrittenWord, ...]


class ReadProximity(NamedTuple):
    """Operands near each other, with the alternatives of each."""

    operands: tuple[tuple[ReadOperand, ...], ...]
    unit: ProximityUnit
    distance: int


ReadPart = ReadOperand | ReadProximity


class Occurrences(NamedTuple):
    """First and last position of each occurrence; the first ones ascend."""

    first: I32
    last: I32


class SegmentWords:
    """The words of a segment, with their positions.

    >>> from lexfuse.storage.segments.segment import build_segment
    >>> segment = build_segment([Document("a", text="La loi du pays", language="fr")], snapshot.settings)
    >>> words = SegmentWords(segment)
    >>> words.documents(ReadOperand(Operand("loi du", OperandKind.PHRASE), (("loi", ("loi",)), ("du", ())))).tolist()
    [0]
    """

    def __init__(self, segment: Segment) -> None:
        """Keep the segment."""
        self.segment = segment

    @property
    def positions(self) -> PositionFile:
        """The positions; the segment must have them."""
        if self.segment.positions is None:
            raise ValueError("the segment has no positions")
        return self.segment.positions

    @property
    def _inverted(self) -> InvertedFile:
        return self.segment.channels[LEXICAL]

    def documents(self, part: ReadPart) -> I64:
        """The documents in which a part holds, some of them repeatedly."""
        if isinstance(part, ReadProximity):
            return self._near(part)
        if is_plain_word(part):
            lists = [self._inverted.postings(term)[0] for term in part.words[0][1]]
            return np.concatenate(lists).astype(np.int64)
        return self.positions.document_of(self._occurrences(part).first)

    def _near(self, part: ReadProximity) -> I64:
        from lexfuse.kernels.positions import ranks, shared

        operands = [self._alternatives(some) for some in part.operands]
        if part.unit is ProximityUnit.WORDS:
            docs = [self._within(one, other, part.distance) for one, other in pairwise(operands)]
            return shared(docs, len(self.positions.documents))
        starts = self.positions.sentences if part.unit is ProximityUnit.SENTENCE else self.positions.paragraphs
        inside = [self._undivided(one, starts) for one in operands]
        fewest = min(range(len(inside)), key=lambda at: len(inside[at]))
        unit = np.unique(ranks(starts, inside[fewest], right=True) - 1)
        begins, ends = starts[unit], np.append(starts, self.positions.documents[-1:])[unit + 1]
        for first in (first for at, first in enumerate(inside) if at != fewest):
            there = ranks(first, begins) < ranks(first, ends)
            begins, ends = begins[there], ends[there]
        return self.positions.document_of(begins)

    @staticmethod
    def _undivided(found: Occurrences, starts: I32) -> I32:
        """Where occurrences begin that are in one sentence or paragraph."""
        from lexfuse.kernels.positions import ranks

        if np.array_equal(found.first, found.last):
            return found.first
        whole: I32 = found.first[ranks(starts, found.first, right=True) == ranks(starts, found.last, right=True)]
        return whole

    def _within(self, one: Occurrences, other: Occurrences, distance: int) -> I64:
        """The documents in which either begins at most ``distance`` words after the other ends."""
        from lexfuse.kernels.positions import followed

        found = []
        for before, after in ((one, other), (other, one)):
            ends, starts = followed(before.last, after.first, distance)
            same = self.positions.stretch_of(ends) == self.positions.stretch_of(starts)
            found.append(self.positions.document_of(starts[same]))
        return np.concatenate(found)

    def _alternatives(self, some: Sequence[ReadOperand]) -> Occurrences:
        every = [self._occurrences(one) for one in some]
        if len(every) == 1:
            return every[0]
        first, last = (np.concatenate([getattr(one, name) for one in every]) for name in ("first", "last"))
        order = np.argsort(first, kind="stable")
        return Occurrences(first[order], last[order])

    def _occurrences(self, part: ReadOperand) -> Occurrences:
        from lexfuse.kernels.positions import sequences

        operand, words = part
        if operand.kind is OperandKind.PREFIX:
            entries: list[Sequence[int]] = [self.positions.entries(word, prefix=True) for word, _ in words]
        else:
            phrase = operand.kind is OperandKind.PHRASE
            entries = [self._of_terms(terms) if terms and not phrase else self.positions.entries(word) for word, terms in words]
        lists = [self.positions.lists(some) for some in entries]
        first = sequences(lists) if lists else np.empty(0, dtype=np.int32)
        first = self.positions.in_field(first, operand.field) if operand.field else first
        return Occurrences(first, first + np.int32(max(len(lists) - 1, 0)))

    def _of_terms(self, terms: tuple[str, ...]) -> list[int]:
        """The entries of all words that have one of these terms."""
        offsets, entries = self._entries
        found: list[int] = []
        for term in terms:
            number = self._inverted.terms.find(term)
            if number is not None and number + 1 < len(offsets):
                found += entries[offsets[number] : offsets[number + 1]].tolist()
        return list(dict.fromkeys(found))

    @cached_property
    def _entries(self) -> tuple[I64, I32]:
        return self.positions.entries_by_term()


def is_plain_word(part: ReadPart) -> bool:
    """Whether a part is one word with terms, anywhere: the posting lists alone find it."""
    if isinstance(part, ReadProximity):
        return False
    return part.operand.kind is OperandKind.WORD and not part.operand.field and len(part.words) == 1 and bool(part.words[0][1])
