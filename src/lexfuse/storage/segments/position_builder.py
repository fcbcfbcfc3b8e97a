"""Builds the positions of a segment while its documents are analysed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import I32, offsets_of, read_only
from lexfuse.errors import DataError
from lexfuse.storage.index_settings import FIELDS, FieldText
from lexfuse.storage.segments.position_file import PositionFile
from lexfuse.storage.string_list import StringList
from lexfuse.text.analysis.analyser import FURTHER, PARAGRAPH, SENTENCE, STRETCH, Analyser
from lexfuse.text.paragraphs import ParagraphMap
from lexfuse.text.sentences.splitter import split_sentences

_FURTHER = FURTHER.encode()
_MARKS = {SENTENCE.encode(): -1, PARAGRAPH.encode(): -2, STRETCH.encode(): -3}
_NONE, _SEVERAL = -4, -5  # codes of a piece without words, and of the first piece with several
_FOREIGN = {ord(mark): "\ue004" for mark in (SENTENCE, PARAGRAPH, STRETCH, FURTHER)}  # marks that a text itself has
_MOST = 2**31 - 1  # positions
_PIECES_KEPT = 2_000_000

Entry = tuple[str, tuple[str, ...]]  # a word as it is written, and its terms


def marked_pieces(part: FieldText, analyser: Analyser) -> list[bytes]:
    """The pieces of a field with marks where sentences, paragraphs and stretches begin.

    Only the field ``text`` has sentences and paragraphs; any other text is one of both.

    >>> part = FieldText("text", "La loi. Le droit.", 1.0, ())
    >>> [piece.decode() for piece in marked_pieces(part, Analyser("fr"))] == ["la", "loi", SENTENCE, "le", "droit"]
    True
    """
    text = part.text.translate(_FOREIGN) if not part.text.isascii() else part.text
    marks = [(place, STRETCH) for place in part.breaks]
    if part.name == "text":
        marks += [(one.start, SENTENCE) for one in split_sentences(text, analyser.language)[1:]]
        marks += [(one.start, PARAGRAPH) for one in ParagraphMap(text).paragraphs[1:]]
    return analyser.marked_pieces(text, sorted(marks))


class PositionBuilder:
    """Collects the words of documents, one after the other.

    >>> builder = PositionBuilder()
    >>> part, analyser = FieldText("text", "La loi", 1.0, ()), Analyser("fr")
    >>> builder.add([(part, analyser, marked_pieces(part, analyser))])
    >>> builder.built(StringList.of(["loi"])).positions.tolist()
    [0, 1]
    """

    def __init__(self) -> None:
        """Start without documents."""
        self._entries: dict[Entry, int] = {}
        self._tables: dict[str, _WordTable] = {}
        self._tokens: list[I32] = []
        self._places: list[I32] = []
        self._documents, self._stretches, self._fields = [0], list[int](), list[int]()
        self._sentences: list[I32] = []
        self._paragraphs: list[I32] = []
        self._end = 0

    def add(self, parts: Sequence[tuple[FieldText, Analyser, list[bytes]]]) -> None:
        """Add a document: its fields with their analyser and their marked pieces."""
        for part, analyser, pieces in parts:
            if analyser.language not in self._tables or len(self._tables[analyser.language]) > _PIECES_KEPT:
                self._tables[analyser.language] = _WordTable(analyser, self._entries)
            self._add(self._tables[analyser.language].codes(pieces), FIELDS.index(part.name))
        if self._end > _MOST:
            raise DataError(f"a segment holds up to {_MOST:,} words; add the documents in several steps")
        self._documents.append(self._end)

    def _add(self, codes: I32, field: int) -> None:
        entry = codes >= 0
        new = entry & (codes & 1 == 0)  # further terms of a citation stay at its place
        breaks = codes == _MARKS[STRETCH.encode()]
        # The place of the word that comes next, before every code; a break leaves one place free.
        before = self._end + np.cumsum(new | breaks) - (new | breaks)
        tokens = np.flatnonzero(entry)
        self._tokens.append(codes[tokens] >> 1)
        self._places.append((before[tokens] - (~new[tokens])).astype(np.int32))
        begins = np.concatenate(([self._end], before[breaks] + 1))
        self._stretches += begins.tolist()
        self._fields += [field] * len(begins)
        for mark, starts in ((SENTENCE, self._sentences), (PARAGRAPH, self._paragraphs)):
            own = np.concatenate((begins, before[codes == _MARKS[mark.encode()]]))
            starts.append(np.unique(own).astype(np.int32))
        self._end += int((new | breaks).sum()) + 1

    def built(self, terms: StringList) -> PositionFile:
        """The positions of all documents; the terms are those of the posting lists."""
        from lexfuse.kernels.postings import invert

        ordered = sorted(self._entries)
        number = np.empty(len(ordered), dtype=np.int32)
        number[[self._entries[entry] for entry in ordered]] = np.arange(len(ordered), dtype=np.int32)
        tokens, places = _joined(self._tokens), _joined(self._places)
        each = np.arange(len(tokens) + 1, dtype=np.int64)  # every word as a separate document: sorted by entry, then by place
        offsets, by_entry, _, _ = invert(each, tokens, np.empty(0, dtype=np.float32), number)
        names = [name for _, found in ordered for name in found]
        return PositionFile(
            StringList.of(word for word, _ in ordered),
            read_only(offsets_of(np.array([len(found) for _, found in ordered], dtype=np.int64))),
            read_only(terms.find_all(names, len(names)).astype(np.int32)),
            read_only(offsets),
            read_only(places[by_entry]),
            read_only(np.array(self._documents, dtype=np.int32)),
            read_only(np.array(self._stretches, dtype=np.int32)),
            read_only(np.array(self._fields, dtype=np.int8)),
            read_only(_joined(self._sentences)),
            read_only(_joined(self._paragraphs)),
        )


def _joined(arrays: Sequence[I32]) -> I32:
    return np.concatenate([np.empty(0, dtype=np.int32), *arrays])


class _WordTable(dict[bytes, int]):
    """The code of every known piece of a language: twice its entry, and one more for a further term of a citation."""

    def __init__(self, analyser: Analyser, entries: dict[Entry, int]) -> None:
        super().__init__(_MARKS)
        self._analyser, self._entries = analyser, entries
        self._several: list[list[int]] = []

    def codes(self, pieces: Sequence[bytes]) -> I32:
        """The codes of the words and marks of a text."""
        codes = np.fromiter(map(self.__getitem__, pieces), dtype=np.int32, count=len(pieces))
        if len(codes) and codes.min() <= _SEVERAL:
            rows = ([code] if code > _SEVERAL else self._several[_SEVERAL - code] for code in codes.tolist())
            codes = np.array([code for row in rows for code in row], dtype=np.int32)
        return codes

    def __missing__(self, piece: bytes) -> int:
        further = piece.startswith(_FURTHER)
        words = self._analyser.words_of_piece(piece)
        found = [("", terms) if further else (word, terms) for word, terms in words]
        codes = [2 * self._entries.setdefault(entry, len(self._entries)) + further for entry in found]
        if len(codes) > 1:
            self._several.append(codes)
            self[piece] = _SEVERAL - (len(self._several) - 1)
        else:
            self[piece] = codes[0] if codes else _NONE
        return self[piece]
