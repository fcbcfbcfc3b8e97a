"""Merge the positions of segments: those of the live documents, as if built from the documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lexfuse.data.arrays import I32, I64, offsets_of, read_only
from lexfuse.errors import DataError
from lexfuse.storage.segments.position_builder import Entry
from lexfuse.storage.segments.position_file import PositionFile
from lexfuse.storage.string_list import StringList

BLOCK = 1 << 22  # positions sorted at once


def merged_positions(
    files: Sequence[tuple[PositionFile, StringList]], places: Sequence[I32], documents: int, terms: StringList
) -> PositionFile:
    """Merge the positions of files, each with its terms; ``places`` has each document's new ordinal, -1 if deleted.

    >>> from lexfuse.storage.index_settings import IndexSettings
    >>> from lexfuse.storage.segments.segment import build_segment
    >>> parts = [build_segment([Document(id, text="la loi", language="fr")], IndexSettings()) for id in "ba"]
    >>> files = [(part.positions, part.channels["bm25"].terms) for part in parts]
    >>> places = [np.array([1], np.int32), np.array([0], np.int32)]
    >>> merged_positions(files, places, 2, files[0][1]).of_word("loi").tolist()
    [1, 4]
    """
    moved = [_Moved(file, place) for (file, _), place in zip(files, places, strict=True)]
    sizes = np.zeros(documents, dtype=np.int64)
    for one in moved:
        sizes[one.place[one.live]] = one.sizes[one.live]
    starts = offsets_of(sizes)
    for one in moved:
        one.shift[one.live] = starts[one.place[one.live]] - one.file.documents[:-1][one.live]
    entries = [_entries_of(file, names) for file, names in files]
    every = sorted({entry for own in entries for entry in own})
    number = {entry: at for at, entry in enumerate(every)}
    numbers = [np.array([number[entry] for entry in own], dtype=np.int64) for own in entries]
    counts, positions = _sorted_positions(moved, numbers, len(every))
    used = np.flatnonzero(counts)
    kept = [every[at] for at in used.tolist()]
    names = [name for _, own in kept for name in own]
    stretches, order = _gathered(moved, lambda file: file.stretches)
    fields = np.concatenate([np.empty(0, dtype=np.int8), *(one.file.fields[one.kept(one.file.stretches)] for one in moved)])
    return PositionFile(
        StringList.of(word for word, _ in kept),
        read_only(offsets_of(np.array([len(own) for _, own in kept], dtype=np.int64))),
        read_only(terms.find_all(names, len(names)).astype(np.int32)),
        read_only(offsets_of(counts[used])),
        read_only(positions),
        read_only(starts.astype(np.int32)),
        read_only(stretches),
        read_only(fields[order]),
        read_only(_gathered(moved, lambda file: file.sentences)[0]),
        read_only(_gathered(moved, lambda file: file.paragraphs)[0]),
    )


class _Moved:
    """A file whose documents get other places."""

    def __init__(self, file: PositionFile, place: I32) -> None:
        self.file, self.place, self.live = file, place, place >= 0
        self.sizes = np.diff(file.documents.astype(np.int64))
        self.shift = np.zeros(len(place), dtype=np.int64)

    def documents(self, positions: I32) -> I64:
        found = self.file.document_of(positions)
        if len(found) and not 0 <= found.min() <= found.max() < len(self.place):
            raise DataError("the positions of words are outside of their documents; restore the index, or rebuild it")
        return found

    def kept(self, positions: I32) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return self.live[self.documents(positions)]

    def moved(self, positions: I32) -> I32:
        """The new positions of those of live documents."""
        docs = self.documents(positions)
        live = self.live[docs]
        return (positions[live] + self.shift[docs[live]]).astype(np.int32)


def _entries_of(file: PositionFile, names: StringList) -> list[Entry]:
    if len(file.terms) and not 0 <= file.terms.min() <= file.terms.max() < len(names):
        raise DataError("the positions of words name terms that are not there; restore the index, or rebuild it")
    terms, edges = [names[at] for at in file.terms.tolist()], file.term_offsets.tolist()
    return [(word, tuple(terms[edges[at] : edges[at + 1]])) for at, word in enumerate(file.words)]


def _gathered(moved: Sequence[_Moved], starts: Callable[[PositionFile], I32]) -> tuple[I32, I64]:
    """The new places where something begins, ascending, and the order of the old ones."""
    every = np.concatenate([np.empty(0, dtype=np.int32), *(one.moved(starts(one.file)) for one in moved)])
    order = np.argsort(every, kind="stable")
    return every[order], order


def _sorted_positions(moved: Sequence[_Moved], numbers: Sequence[I64], entries: int) -> tuple[I64, I32]:
    """How many positions every entry has, and the positions entry after entry, a block of entries at a time."""
    total = np.zeros(entries, dtype=np.int64)
    for one, number in zip(moved, numbers, strict=True):
        total[number] += np.diff(one.file.offsets)
    ends, counts, found = np.cumsum(total), np.zeros(entries, dtype=np.int64), [np.empty(0, dtype=np.int32)]
    first = 0
    while first < entries:
        before = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
        entry, position = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
        for one, number in zip(moved, numbers, strict=True):
            low, high = np.searchsorted(number, (first, end))
            own = one.file.positions[one.file.offsets[low] : one.file.offsets[high]]
            entry.append(np.repeat(number[low:high], np.diff(one.file.offsets[low : high + 1]))[one.kept(own)])
            position.append(one.moved(own))
        each, places = np.concatenate(entry), np.concatenate(position)
        found.append(places[np.lexsort((places, each))])
        counts[first:end] = np.bincount(each - first, minlength=end - first)
        first = end
    return counts, np.concatenate(found)
