"""The heaviest postings of every term: what an approximate search finds its candidates in.

A learned query has some twenty terms, many of them in a large part of the documents with small weights, which decide little. So
long lists are cut to their heaviest postings, which is also the first step of Seismic (Bruch, Nardini, Rulli and Venturini, SIGIR
2024). The best documents of the short lists are candidates. Their scores are then computed over the whole lists, so they are
exact. The short lists are derived when a channel is searched first; the index holds whole lists only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F32, I32, I64
from lexfuse.storage.segments.channel_postings import Postings

HEAVIEST = 4000  # postings that a list keeps
CANDIDATES = 5  # times k: documents whose whole scores are computed


@dataclass(frozen=True, slots=True, eq=False)
class HeavyPostings:
    """Posting lists with their heaviest postings alone, in the order of documents.

    >>> from lexfuse.storage.segments.inverted_file import InvertedFile
    >>> postings = Postings([InvertedFile.of([["a"], ["a", "a"], ["a", "b"]])], np.array([0, 3]), np.ones(3, bool))
    >>> heavy = HeavyPostings.of(postings, postings.weights, 1)
    >>> heavy.docs.tolist(), [edges.tolist() for edges in heavy.ranges(np.array([0, 1]))]
    ([1, 2], [[[0], [1]], [[1], [2]]])
    """

    docs: I32
    impacts: F32
    starts: I64  # of each term in each segment
    ends: I64

    @classmethod
    def of(cls, postings: Postings, impacts: F32, most: int) -> HeavyPostings:
        """Keep the heaviest postings of each list, and those that weigh as much as the last of them."""
        terms = np.arange(len(postings.vocabulary), dtype=np.int32)
        starts, ends = postings.ranges(terms)
        kept = np.zeros(len(postings.docs) + 1, dtype=np.bool_)
        for row in range(len(terms)):
            pieces = [
                slice(start, end) for start, end in zip(starts[row].tolist(), ends[row].tolist(), strict=True) if end > start
            ]
            least = _least([impacts[piece] for piece in pieces], most)
            for piece in pieces:
                kept[piece] = impacts[piece] >= least
        before = np.cumsum(kept) - kept
        chosen = kept[:-1]
        return cls(postings.docs[chosen], impacts[chosen], before[starts], before[ends])

    def ranges(self, terms: I32) -> tuple[I64, I64]:
        """Start and end of each term's list in each segment, as `Postings.ranges`."""
        return self.starts[terms], self.ends[terms]


def _least(lists: list[F32], most: int) -> float:
    """The lowest impact that is kept of a list in pieces."""
    if sum(map(len, lists)) <= most:
        return 0.0
    whole = np.concatenate(lists)
    return float(np.partition(whole, len(whole) - most)[len(whole) - most])
