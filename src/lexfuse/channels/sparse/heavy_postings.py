"""The heaviest postings of every term: what an approximate search finds its candidates in.

A learned query has some twenty terms, many of them in a large part of the documents with small weights, which decide little. So
long lists are cut to their heaviest postings, which is also the first step of Seismic (Bruch, Nardini, Rulli and Venturini, SIGIR
2024). The best documents of the short lists are candidates. Their scores are then computed from all their terms, so they are
exact. Short lists and rows are derived when a channel is searched first; the index holds whole lists only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F32, I32, I64
from lexfuse.storage.segments.channel_postings import Postings

LEAST = 8000  # postings that a list keeps
SHARE = 0.1  # of the documents: postings that a list keeps, if these are more
CANDIDATES = 25  # times k: documents whose whole scores are computed


def heaviest(documents: int) -> int:
    """How many postings a list keeps.

    >>> heaviest(30_000), heaviest(1_000_000)
    (8000, 100000)
    """
    return max(LEAST, int(SHARE * documents))


@dataclass(frozen=True, slots=True, eq=False)
class HeavyPostings:
    """Posting lists with their heaviest postings alone, in the order of documents, and the terms of every document.

    >>> from lexfuse.storage.segments.inverted_file import InvertedFile
    >>> postings = Postings([InvertedFile.of([["a"], ["a", "a"], ["a", "b"]])], np.array([0, 3]), np.ones(3, bool))
    >>> heavy = HeavyPostings.of(postings, postings.weights, 1)
    >>> heavy.docs.tolist(), [edges.tolist() for edges in heavy.ranges(np.array([0, 1]))]
    ([1, 2], [[[0], [1]], [[1], [2]]])
    >>> heavy.row_starts.tolist(), heavy.row_terms.tolist(), heavy.row_impacts.tolist()
    ([0, 1, 2, 4], [0, 0, 0, 1], [1.0, 2.0, 1.0, 1.0])
    """

    docs: I32
    impacts: F32
    starts: I64  # of each term in each segment
    ends: I64
    row_starts: I64  # of each raw document, and the end
    row_terms: I32
    row_impacts: F32

    @classmethod
    def of(cls, postings: Postings, impacts: F32, most: int) -> HeavyPostings:
        """Keep the heaviest postings of each list, and those that weigh as much as the last of them."""
        terms = np.arange(len(postings.vocabulary), dtype=np.int32)
        starts, ends = postings.ranges(terms)
        kept = np.zeros(len(postings.docs) + 1, dtype=np.bool_)
        for row in range(len(terms)):
            edges = zip(starts[row].tolist(), ends[row].tolist(), strict=True)
            pieces = [slice(start, end) for start, end in edges if end > start]
            least = _least([impacts[piece] for piece in pieces], most)
            for piece in pieces:
                kept[piece] = impacts[piece] >= least
        before: I64 = np.cumsum(kept) - kept
        chosen = kept[:-1]
        return cls(postings.docs[chosen], impacts[chosen], before[starts], before[ends], *_rows(postings, impacts))

    def ranges(self, terms: I32) -> tuple[I64, I64]:
        """Start and end of each term's list in each segment, as `Postings.ranges`."""
        return self.starts[terms], self.ends[terms]


def _least(lists: list[F32], most: int) -> float:
    """The lowest impact that is kept of a list in pieces."""
    if sum(map(len, lists)) <= most:
        return 0.0
    whole = np.concatenate(lists)
    return float(np.partition(whole, len(whole) - most)[len(whole) - most])


def _rows(postings: Postings, impacts: F32) -> tuple[I64, I32, F32]:
    """The terms of every raw document with their impacts: the posting lists turned around, segment by segment."""
    from lexfuse.kernels.postings import invert

    starts, terms, weights, size = [np.zeros(1, dtype=np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.float32)], 0
    for stretch, (first, last) in zip(postings.stretches(), postings.raw_ranges, strict=True):
        lists = np.flatnonzero(np.diff(stretch.terms, prepend=-1))
        numbers = np.arange(last - first, dtype=np.int32)
        edges = np.append(lists, len(stretch.docs))
        offsets, row_lists, sums, _ = invert(edges, stretch.docs - np.int32(first), impacts[stretch.place], numbers)
        starts.append(offsets[1:] + size)
        terms.append(stretch.terms[lists][row_lists] if len(lists) else row_lists)
        weights.append(sums)
        size += len(row_lists)
    return np.concatenate(starts), np.concatenate(terms).astype(np.int32), np.concatenate(weights)
