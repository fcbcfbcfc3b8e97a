"""The loops of the inverted file in numpy: many times slower than compiled, but without loading, and with the same bits.

Sums have the order and precision of the compiled loops. `lexfuse.kernels.postings` describes the functions and chooses between
the two.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, Bools, offsets_of


def invert(starts: I64, terms: I32, weights: F32, numbers: I32) -> tuple[I64, I32, F32, F32]:
    """Posting lists of documents."""
    documents = len(starts) - 1
    doc = np.repeat(np.arange(documents), np.diff(starts))
    each = weights if len(weights) else np.ones(len(terms), dtype=np.float32)
    postings, place = np.unique(numbers[terms].astype(np.int64) * max(documents, 1) + doc, return_inverse=True)
    term, docs = np.divmod(postings, max(documents, 1))
    sums = np.zeros(len(postings), dtype=np.float32)
    np.add.at(sums, place, each)  # sequential, unlike a reduction
    lengths = np.zeros(documents, dtype=np.float32)
    np.add.at(lengths, doc, each)
    return np.searchsorted(term, np.arange(len(numbers) + 1)), docs.astype(np.int32), sums, lengths


def distinct(starts: I64, terms: I32) -> tuple[I64, I32, F32]:
    """The distinct terms of each query, with their counts."""
    found, counts = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
    for start, end in pairwise(starts.tolist()):
        names, first, often = np.unique(terms[start:end], return_index=True, return_counts=True)
        by_place = np.argsort(first)
        found.append(names[by_place])
        counts.append(often[by_place].astype(np.float32))
    return offsets_of(np.array([len(row) for row in found[1:]], dtype=np.int64)), np.concatenate(found), np.concatenate(counts)


def summed(ranges: I64, ends: I64, factors: F32, docs: I32, impacts: F32, documents: int) -> F32:
    """The score of every document for one query."""
    scores = np.zeros(documents, dtype=np.float32)
    for start, end, factor in zip(ranges.tolist(), ends.tolist(), factors, strict=True):
        scores[docs[start:end]] += factor * impacts[start:end]
    return scores


def best(
    query_starts: I64,
    range_starts: I64,
    range_ends: I64,
    factors: F32,
    docs: I32,
    impacts: F32,
    order: I32,
    within: Bools,
    k: int,
) -> tuple[I64, I32, F32]:
    """The best k documents of every query."""
    found, reached = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
    for start, end in pairwise(query_starts.tolist()):
        scores = summed(range_starts[start:end], range_ends[start:end], factors[start:end], docs, impacts, len(order))
        chosen = np.flatnonzero((scores > 0) & within if len(within) else scores > 0)
        if len(chosen) > k:
            values = scores[chosen]
            chosen = chosen[values >= np.partition(values, len(values) - k)[len(values) - k]]
        ranked = chosen[np.lexsort((order[chosen], -scores[chosen]))[:k]]
        found.append(ranked.astype(np.int32))
        reached.append(scores[ranked])
    return offsets_of(np.array([len(row) for row in found[1:]], dtype=np.int64)), np.concatenate(found), np.concatenate(reached)


def pair_scores(
    query: I32, doc: I32, row_starts: I64, range_starts: I64, range_ends: I64, factors: F32, docs: I32, impacts: F32
) -> F32:
    """The score of every pair of query and document."""
    scores = np.zeros(len(query), dtype=np.float32)
    documents = int(max(doc.max(initial=-1), docs.max(initial=-1))) + 1
    for row in np.unique(query).tolist():
        part = slice(row_starts[row], row_starts[row + 1])
        pairs = query == row
        scores[pairs] = summed(range_starts[part], range_ends[part], factors[part], docs, impacts, documents)[doc[pairs]]
    return scores
