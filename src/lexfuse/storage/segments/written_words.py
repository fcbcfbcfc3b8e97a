"""The words of documents as they are written, in lower case and without accents: how often they occur, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple, Protocol

import numpy as np

from lexfuse.data.arrays import I64, Bools
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.segments.position_file import PositionFile


class WordDocuments(NamedTuple):
    """How many documents have a word, and how many of them have some other words too."""

    documents: int
    together: int


class WrittenWords(Protocol):
    """What an index knows of the words of its documents."""

    def counts(self) -> dict[str, int]:
        """How often each word that is searched by occurs in the versions of all days."""

    def first_document(self, word: str) -> str:
        """The lowest id of a document with a word, "" if none has it."""

    def together(self, words: Sequence[str], others: Sequence[str]) -> list[WordDocuments]:
        """For each word, how many documents have it, and how many have all other words too."""


class SegmentDocuments(NamedTuple):
    """The positions of the words of a segment, and which of its documents count."""

    positions: PositionFile
    alive: Bools

    def counts(self) -> Counter[str]:
        """How often each word occurs; stop words have no terms."""
        file = self.positions
        numbers = np.diff(file.offsets)
        if not self.alive.all():
            counted = np.concatenate(([0], np.cumsum(self.alive[file.document_of(file.positions)])))
            numbers = np.diff(counted[file.offsets])
        numbers = np.where(np.diff(file.term_offsets) > 0, numbers, 0)
        found = Counter[str]()
        for word, number in zip(file.words.strings(), numbers.tolist(), strict=True):
            if number:
                found[word] += number
        return found

    def having(self, word: str) -> I64:
        """The documents with a word."""
        documents = np.unique(self.positions.document_of(self.positions.of_word(word)))
        return documents[self.alive[documents]]


class FolderWords:
    """The words of the segments of an index folder, on a day.

    >>> words = snapshot.written_words
    >>> words.counts()["retard"], words.first_document("retard"), words.together(["retard"], ["livre"])
    (1, 'lib-4', [WordDocuments(documents=1, together=0)])
    """

    def __init__(self, segments: Sequence[SegmentDocuments], numbering: Numbering, every: WrittenWords | None = None) -> None:
        """Take the documents of the day with their numbers, and the words of all days where documents have versions."""
        self._segments, self._numbering, self._every = segments, numbering, every

    def counts(self) -> dict[str, int]:
        """How often each word that is searched by occurs in the versions of all days."""
        if self._every is not None:
            return self._every.counts()
        return dict(sum((segment.counts() for segment in self._segments), Counter[str]()))

    def first_document(self, word: str) -> str:
        """The lowest id of a document with a word, "" if none has it."""
        held = zip(self._numbering.bases.tolist(), self._segments, strict=False)
        numbers = [self._numbering.places[base + segment.having(word)].tolist() for base, segment in held]
        return min((self._numbering.ids[at] for some in numbers for at in some), default="")

    def together(self, words: Sequence[str], others: Sequence[str]) -> list[WordDocuments]:
        """For each word, how many documents have it, and how many have all other words too."""
        found = [WordDocuments(0, 0)] * len(words)
        for segment in self._segments:
            shared = reduce(np.intersect1d, map(segment.having, others))
            for at, word in enumerate(words):
                documents = segment.having(word)
                both = np.intersect1d(documents, shared, assume_unique=True)
                found[at] = WordDocuments(found[at].documents + len(documents), found[at].together + len(both))
        return found
