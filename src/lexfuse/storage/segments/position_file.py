"""Positions of the words of a segment as they are written, for phrases, proximity and fields.

The words of all documents have ascending positions, document after document. A citation is one word. Between two stretches of
text (a field, or one text of a list) one position stays free, so that no phrase runs from one into the next. An entry is a word
as it is written, in lower case and without accents, with its terms in the posting lists. Entries are sorted, and so are the
positions of each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import I32, I64, offsets_of
from lexfuse.errors import DataError
from lexfuse.kernels.positions import ranks, united
from lexfuse.storage.array_file import checked_offsets, map_array, save_array
from lexfuse.storage.index_settings import FIELDS
from lexfuse.storage.string_list import StringList

_LAST = "\U0010ffff"  # after every letter
_ARRAYS = {
    "term_offsets": np.int64, "terms": np.int32, "offsets": np.int64, "positions": np.int32, "documents": np.int32,
    "stretches": np.int32, "fields": np.int8, "sentences": np.int32, "paragraphs": np.int32,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class PositionFile:
    """Where every word is; `lexfuse.storage.segments.position_builder` makes it.

    >>> from lexfuse.storage.segments.segment import build_segment
    >>> from lexfuse.storage.index_settings import IndexSettings
    >>> file = build_segment([Document("a", title="Loi", text="La loi. Le droit", language="fr")], IndexSettings()).positions
    >>> file.of_word("loi").tolist(), file.of_prefix("l").tolist(), file.sentences.tolist()
    ([0, 3], [0, 2, 3, 4], [0, 2, 4])
    """

    words: StringList  # of the entries, sorted; one that is written alike has several, each with other terms
    term_offsets: I64  # of the terms of each entry
    terms: I32  # their numbers in the posting lists of the segment
    offsets: I64  # of the positions of each entry
    positions: I32
    documents: I32  # position where each document begins, and the end
    stretches: I32  # where each stretch begins
    fields: NDArray[np.int8]  # of each stretch, numbered as in `FIELDS`
    sentences: I32  # where each begins
    paragraphs: I32

    def of_word(self, word: str) -> I32:
        """Positions of a word as it is written."""
        return united(self.lists(self.entries(word)))

    def of_prefix(self, prefix: str) -> I32:
        """Positions of all words that begin like this."""
        return united(self.lists(self.entries(prefix, prefix=True)))

    def entries(self, word: str, *, prefix: bool = False) -> range:
        """The entries of a word, or of all words that begin like it."""
        words = self.words.strings()
        start = bisect_left(words, word)
        return range(start, bisect_left(words, word + _LAST if prefix else word + "\0", start))

    def lists(self, entries: Sequence[int]) -> list[I32]:
        """The positions of each of some entries, ascending."""
        return [self.positions[self.offsets[at] : self.offsets[at + 1]] for at in entries]

    def document_of(self, positions: I32) -> I64:
        """The document of each position."""
        return ranks(self.documents, positions, right=True) - 1

    def stretch_of(self, positions: I32) -> I64:
        """The stretch of each position."""
        return ranks(self.stretches, positions, right=True) - 1

    def in_field(self, positions: I32, field: str) -> I32:
        """The positions that are in a field."""
        return positions[self.fields[self.stretch_of(positions)] == FIELDS.index(field)] if len(positions) else positions

    def entries_by_term(self) -> tuple[I64, I32]:
        """The entries of every term, as offsets by the number of the term, and the entries."""
        if len(self.terms) and self.terms.min() < 0:
            raise DataError("the positions of the index are damaged (they name terms that are not there); verify it")
        entry = np.repeat(np.arange(len(self.words), dtype=np.int32), np.diff(self.term_offsets))
        order = np.argsort(self.terms, kind="stable")
        return offsets_of(np.bincount(self.terms).astype(np.int64)), entry[order]

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the arrays into a folder, yielding each path."""
        yield from self.words.save(folder / "words")
        for name in _ARRAYS:
            yield save_array(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> PositionFile:
        """Map saved positions into memory; data is read on demand.

        >>> PositionFile.load(folder)
        Traceback (most recent call last):
        ...
        lexfuse.errors.NotFoundError: the index lacks its file ...
        """
        arrays = {name: map_array(folder / f"{name}.npy", dtype) for name, dtype in _ARRAYS.items()}
        words = StringList.load(folder / "words")
        checked_offsets(arrays["offsets"], len(arrays["positions"]), folder / "offsets.npy")
        checked_offsets(arrays["term_offsets"], len(arrays["terms"]), folder / "term_offsets.npy")
        lengths = {len(arrays["offsets"]), len(arrays["term_offsets"]), len(words) + 1}
        if len(lengths) > 1 or len(arrays["fields"]) != len(arrays["stretches"]) or not len(arrays["documents"]):
            raise DataError("the files do not belong together; restore them, or rebuild the index", path=folder)
        return cls(words, **arrays)
