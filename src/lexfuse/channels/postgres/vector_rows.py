"""The vectors of a channel of an index folder as rows for PostgreSQL, in the binary format of pgvector."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.arrays import F32, I32
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.folder_snapshot import FolderSnapshot

_LONGEST, _MOST_TERMS = 16_000, 16_000  # numbers of a dense vector, terms of a sparse one: limits of pgvector


class DenseRows(NamedTuple):
    """The passages of a dense channel: document, passage, start, end, vector."""

    rows: Iterator[tuple[int, int, int, int, bytes]]
    documents: int
    size: int
    longest: float


class SparseRows(NamedTuple):
    """The documents of a learned sparse channel: document, vector, its length."""

    rows: list[tuple[int, bytes, float]]
    documents: int
    terms: list[str]
    largest: int  # number of terms of a vector


def dense_rows(snapshot: FolderSnapshot, channel: str, ordinals: I32) -> DenseRows:
    """The vectors of the live documents; `ordinals` has the number of each in PostgreSQL."""
    numbering = snapshot.channel_numbering(channel)
    parts = [content for part in snapshot.channel(channel).parts if isinstance(content := part.content, VectorPart)]
    size = parts[0].dimension if parts else 1
    if size > _LONGEST:
        raise DataError(f"{channel!r} has vectors of {size:,} numbers, pgvector takes {_LONGEST:,}; leave the channel out")

    def rows() -> Iterator[tuple[int, int, int, int, bytes]]:
        head = struct.pack(">hh", size, 0)
        for base, part in zip(numbering.bases.tolist(), parts, strict=False):
            for own, place in enumerate(numbering.places[base : base + len(part)].tolist()):
                first, last = int(part.starts[own]), int(part.starts[own + 1])
                vectors = part.block(first, last).astype(">f4") if place >= 0 else ()
                for passage, vector in enumerate(vectors):
                    start, end = part.spans[first + passage].tolist()
                    yield int(ordinals[place]), passage, start, end, head + vector.tobytes()

    norms = [
        float(part.norms[np.repeat(numbering.alive[base : base + len(part)], np.diff(part.starts))].max(initial=0.0))
        for base, part in zip(numbering.bases.tolist(), parts, strict=False)
    ]
    return DenseRows(rows(), int(numbering.alive.sum()), size, max(norms, default=0.0))


def sparse_rows(snapshot: FolderSnapshot, channel: str, ordinals: I32) -> SparseRows:
    """The vectors of the live documents, over the terms that some document has."""
    numbering = snapshot.channel_numbering(channel)
    parts = [content for part in snapshot.channel(channel).parts if isinstance(content := part.content, SparsePart)]
    if any(part.starts is not None for part in parts):
        raise ConfigError(
            f"{channel!r} has a vector for each passage, PostgreSQL takes one for each document; make it without --passages"
        )
    terms: dict[str, int] = {}
    for part in parts:
        for term in part.inverted.terms:
            terms.setdefault(term, len(terms))
    rows = []
    for base, part in zip(numbering.bases.tolist(), parts, strict=False):
        for own, (places, weights) in enumerate(_by_document(part, terms)):
            if (place := int(numbering.places[base + own])) < 0:
                continue
            if len(places) > _MOST_TERMS:
                most = (
                    f"document {snapshot.ids[place]!r} has {len(places):,} terms in {channel!r}, pgvector takes {_MOST_TERMS:,}"
                )
                raise DataError(f"{most}; make the channel with fewer terms")
            head = struct.pack(">iii", max(len(terms), 1), len(places), 0)
            length = float(np.sqrt(np.square(weights, dtype=np.float64).sum())) or 1.0
            rows.append((int(ordinals[place]), head + places.astype(">i4").tobytes() + weights.astype(">f4").tobytes(), length))
    largest = max((len(vector) - 12) // 8 for _, vector, _ in rows) if rows else 0
    return SparseRows(rows, len(rows), list(terms), largest)


def _by_document(part: SparsePart, terms: dict[str, int]) -> Iterator[tuple[I32, F32]]:
    """Places and weights of every document of a part, by place."""
    file = part.inverted
    numbers = np.array([terms[term] for term in file.terms], dtype=np.int32)
    places = np.repeat(numbers, np.diff(file.offsets))
    order = np.lexsort((places, file.docs))
    starts = np.searchsorted(file.docs[order], np.arange(len(part) + 1))
    places, weights = places[order], np.asarray(file.weights)[order]
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield places[first:last], weights[first:last]
