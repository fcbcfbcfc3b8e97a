"""Merge segments: the live documents of several become one segment, as if built from the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, Bools, offsets_of, read_only
from lexfuse.errors import DataError
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.position_merge import merged_positions
from lexfuse.storage.segments.segment import LEXICAL, Segment
from lexfuse.storage.string_list import StringList

FACTOR = 8  # segments of similar size that stay separate
BLOCK = 1 << 22  # postings sorted at once


def segments_to_merge(sizes: Sequence[int]) -> list[int]:
    """Positions of segments to merge so that few remain: the first `FACTOR` or more of similar size, or none.

    Sizes are similar if they have the same logarithm to the base `FACTOR`. So a document is merged only a few times, and
    thousands of single additions leave few segments.

    >>> segments_to_merge([5000, 1, 2, 1]), segments_to_merge([5000] + [1] * 8)
    ([], [1, 2, 3, 4, 5, 6, 7, 8])
    """
    tiers: dict[int, list[int]] = {}
    for at, size in enumerate(sizes):
        tier = 0
        while size >= FACTOR ** (tier + 1):
            tier += 1
        tiers.setdefault(tier, []).append(at)
    return next((tiers[tier] for tier in sorted(tiers) if len(tiers[tier]) >= FACTOR), [])


def merge_segments(segments: Sequence[Segment], alive: Sequence[Bools]) -> Segment:
    """One segment of all live documents, as if built from them.

    >>> old = [Segment(StringList.of([name]), {"bm25": InvertedFile.of([["loi"]])}) for name in "ba"]
    >>> list(merge_segments(old, [np.array([True])] * 2).ids)
    ['a', 'b']
    """
    names = [
        (id, number, at) for number, segment in enumerate(segments) for at, id in enumerate(segment.ids) if alive[number][at]
    ]
    names.sort()
    places = [np.full(len(segment.ids), -1, dtype=np.int32) for segment in segments]
    for new, (_, number, at) in enumerate(names):
        places[number][at] = new
    channels = {
        channel: merged_inverted([segment.channels[channel] for segment in segments], places, len(names))
        for channel in segments[0].channels
    }
    ids = StringList.of(id for id, _, _ in names)
    files = [(segment.positions, segment.channels[LEXICAL].terms) for segment in segments if segment.positions is not None]
    if len(files) < len(segments):  # of an older LexFuse; a rebuild adds what is missing
        return Segment(ids, channels)
    return Segment(ids, channels, merged_positions(files, places, len(names), channels[LEXICAL].terms))


def merged_inverted(files: Sequence[InvertedFile], places: Sequence[I32], documents: int) -> InvertedFile:
    """Merge the posting lists of files; ``places`` has each document's new ordinal, -1 if deleted.

    >>> files = [InvertedFile.of([["a"], ["b"]]), InvertedFile.of([["b"]])]
    >>> merged_inverted(files, [np.array([-1, 1], np.int32), np.array([0], np.int32)], 2).postings("b")[0].tolist()
    [0, 1]
    """
    vocabulary = sorted({term for file in files for term in file.terms})
    number = {term: at for at, term in enumerate(vocabulary)}
    numbers = [np.array([number[term] for term in file.terms], dtype=np.int64) for file in files]
    lengths = np.zeros(documents, dtype=np.float32)
    for file, place in zip(files, places, strict=True):
        lengths[place[place >= 0]] = file.lengths[place >= 0]
    frequency = np.zeros(len(vocabulary), dtype=np.int64)
    docs, weights = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
    for first, end in _blocks(files, numbers, len(vocabulary)):
        term, doc, weight = _joined(files, numbers, places, first, end)
        order = np.argsort((term - first) * max(documents, 1) + doc, kind="stable")  # sorted runs are merged
        frequency[first:end] = np.bincount(term - first, minlength=end - first)
        docs.append(doc[order])
        weights.append(weight[order])
    used = np.flatnonzero(frequency)
    return InvertedFile(
        StringList.of(vocabulary[at] for at in used),
        read_only(offsets_of(frequency[used])),
        read_only(np.concatenate(docs)),
        read_only(np.concatenate(weights)),
        read_only(lengths),
    )


def _blocks(files: Sequence[InvertedFile], numbers: Sequence[I64], terms: int) -> Iterator[tuple[int, int]]:
    """Ranges of terms with about `BLOCK` postings each, so that memory does not grow with the index."""
    total = np.zeros(terms, dtype=np.int64)
    for file, number in zip(files, numbers, strict=True):
        total[number] += file.document_frequency
    ends = np.cumsum(total)
    first = 0
    while first < terms:
        before = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
        yield first, end
        first = end


def _joined(
    files: Sequence[InvertedFile], numbers: Sequence[I64], places: Sequence[I32], first: int, end: int
) -> tuple[I64, I32, F32]:
    """Live postings of a range of terms, file after file: term, new ordinal and weight of each."""
    terms, docs, weights = [], [], []
    for file, number, place in zip(files, numbers, places, strict=True):
        low, high = np.searchsorted(number, (first, end))
        span = slice(int(file.offsets[low]), int(file.offsets[high]))
        if len(found := file.docs[span]) and not 0 <= found.min() <= found.max() < len(place):
            raise DataError(f"a posting names document {found.max()} of {len(place):,}; restore the index, or rebuild it")
        new = place[found]
        kept = new >= 0
        terms.append(np.repeat(number[low:high], np.diff(file.offsets[low : high + 1]))[kept])
        docs.append(new[kept])
        weights.append(file.weights[span][kept])
    return np.concatenate(terms), np.concatenate(docs), np.concatenate(weights)
