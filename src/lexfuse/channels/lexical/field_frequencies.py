"""How often terms occur in each field, and how long the fields are, counted from the positions of words."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F32, I64
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.index_settings import FIELDS
from lexfuse.storage.segments.position_file import PositionFile
from lexfuse.storage.segments.segment import LEXICAL, Segment
from lexfuse.storage.snapshot import Snapshot


class FieldFrequencies:
    """The counts of one snapshot; those of a field are kept with the posting lists.

    >>> counts = FieldFrequencies(snapshot)
    >>> counts.lengths("title").tolist(), counts.frequencies("title").sum() == counts.lengths("title").sum()
    ([4.0, 4.0, 4.0, 4.0, 4.0, 4.0], np.True_)
    """

    def __init__(self, snapshot: Snapshot) -> None:
        """Refuse a snapshot without positions."""
        if not isinstance(snapshot, FolderSnapshot):
            raise ConfigError("the fields of an index in PostgreSQL are not counted; search the index folder with BM25F")
        if any(segment.positions is None for segment in snapshot.segments):
            raise ConfigError(
                "parts of the index have no positions, which BM25F counts; write them: lexfuse index INDEX --rebuild"
            )
        self._snapshot, self._postings = snapshot, snapshot.postings(LEXICAL)

    def frequencies(self, field: str) -> F32:
        """How often the term of every posting occurs in the field, parallel to the postings."""
        if ("frequency", field) not in self._postings.impacts:
            segments, stretches = self._snapshot.segments, list(self._postings.stretches())
            found = np.zeros(len(self._postings.docs), dtype=np.float32)
            for segment, stretch in zip(segments, stretches[len(stretches) - len(segments) :], strict=True):
                found[stretch.place] = _frequencies(segment, field)
            self._postings.impacts["frequency", field] = found
        return self._postings.impacts["frequency", field]

    def lengths(self, field: str) -> F32:
        """The number of terms in the field of every raw document."""
        if ("length", field) not in self._postings.impacts:
            found = [_lengths(segment, field) for segment in self._snapshot.segments]
            self._postings.impacts["length", field] = np.concatenate([np.empty(0, dtype=np.float32), *found])
        return self._postings.impacts["length", field]

    def mean_length(self, field: str) -> float:
        """The mean of the live documents; in a cluster, of those of all shards."""
        given = self._snapshot.field_lengths
        if given is not None:
            if field not in given:
                raise ConfigError("the cluster has no lengths of fields, which BM25F needs; publish it again")
            return given[field] / (self._postings.documents or 1)
        return self.total_length(field) / (self._postings.documents or 1)

    def total_length(self, field: str) -> float:
        """The number of terms in the field of all live documents."""
        return float(self.lengths(field)[self._postings.alive].sum(dtype=np.float64))


def _tokens(segment: Segment, field: str) -> tuple[PositionFile, I64, I64]:
    """The positions of a segment, and of each word in a field its entry and its document."""
    positions = segment.positions
    if positions is None:
        raise ValueError("the segment has no positions")
    own = np.flatnonzero(positions.fields[positions.stretch_of(positions.positions)] == FIELDS.index(field))
    entry = np.searchsorted(positions.offsets, own, side="right") - 1
    return positions, entry, positions.document_of(positions.positions[own])


def _lengths(segment: Segment, field: str) -> F32:
    """The number of terms in the field of every document."""
    positions, entry, doc = _tokens(segment, field)
    terms = np.diff(positions.term_offsets)[entry]  # a word counts once for each of its terms
    return np.bincount(doc, weights=terms, minlength=len(segment.ids)).astype(np.float32)


def _frequencies(segment: Segment, field: str) -> F32:
    """How often the term of each posting occurs in the field."""
    inverted, documents = segment.channels[LEXICAL], len(segment.ids)
    positions, entry, doc = _tokens(segment, field)
    count = np.diff(positions.term_offsets)[entry]
    which = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    term = positions.terms[np.repeat(positions.term_offsets[entry], count) + which].astype(np.int64)
    wanted = term * documents + np.repeat(doc, count)
    numbers = np.repeat(np.arange(len(inverted.terms), dtype=np.int64), inverted.document_frequency)
    postings = numbers * documents + inverted.docs
    at = np.searchsorted(postings, wanted)
    if len(at) and (at.max() >= len(postings) or (postings[at] != wanted).any()):
        raise DataError("the positions of the index do not fit its posting lists; verify it")
    return np.bincount(at, minlength=len(postings)).astype(np.float32)
