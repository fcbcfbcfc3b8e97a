"""The inner loops of the inverted file: build posting lists, sum scores, select the best k.

Nothing is approximate: every posting of every query term is added, and the best k are sorted by descending score, then by
ascending ``order`` (the position of a document's id among all ids).

Each loop exists twice with bit-equal results: compiled by numba, and in numpy. Loading numba and its compiled code takes a
second, more than a few queries take in numpy. So work starts in numpy and is counted; numba is loaded once the work exceeds the
cost of loading.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, Bools, offsets_of
from lexfuse.kernels.compilation import compiled_is_due, read_only_views


def invert(starts: I64, terms: I32, weights: F32, numbers: I32) -> tuple[I64, I32, F32, F32]:
    """Turn documents (term ids in CSR, with weights or none for 1) into posting lists with ascending documents.

    ``numbers`` maps each term id to its list. Returns the offsets of the lists, documents, summed weights, and the length of each
    document.

    >>> numbers, ones = np.array([0, 1], np.int32), np.ones(3, np.float32)
    >>> offsets, docs, sums, _ = invert(np.array([0, 2, 3]), np.array([1, 1, 0], np.int32), ones, numbers)
    >>> offsets.tolist(), docs.tolist(), sums.tolist()
    ([0, 1, 2], [1, 0], [1.0, 2.0])
    """
    if compiled_is_due(20 * len(terms)):
        from lexfuse.kernels import postings_numba

        inverted: tuple[I64, I32, F32, F32] = postings_numba.invert(*read_only_views(starts, terms, weights, numbers))
        return inverted
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


def distinct(starts: I64, terms: I32, term_count: int) -> tuple[I64, I32, F32]:
    """Each query's distinct terms in order of first occurrence, with their counts.

    >>> [array.tolist() for array in distinct(np.array([0, 3]), np.array([5, 2, 5], np.int32), 6)]
    [[0, 2], [5, 2], [2.0, 1.0]]
    """
    if compiled_is_due(_CALL * len(starts) + 5 * len(terms)):
        from lexfuse.kernels import postings_numba

        rows: tuple[I64, I32, F32] = postings_numba.distinct(*read_only_views(starts, terms), term_count)
        return rows
    found, counts = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
    for start, end in pairwise(starts.tolist()):
        names, first, often = np.unique(terms[start:end], return_index=True, return_counts=True)
        by_place = np.argsort(first)
        found.append(names[by_place])
        counts.append(often[by_place].astype(np.float32))
    return offsets_of(np.array([len(row) for row in found[1:]], dtype=np.int64)), np.concatenate(found), np.concatenate(counts)


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
    """The best k documents of every query, as offsets, documents and scores.

    A query is a row of ranges into the postings, each with the factor of its term. ``within`` is empty or has one flag per
    document. Documents without a positive score are not returned.

    >>> starts, ends, ones = np.array([0, 2]), np.array([2, 3]), np.ones(2, np.float32)
    >>> docs, impacts = np.array([0, 1, 1], np.int32), np.array([2, 1, 3], np.float32)
    >>> every, order = np.empty(0, np.bool_), np.array([0, 1], np.int32)
    >>> [array.tolist() for array in best(np.array([0, 2]), starts, ends, ones, docs, impacts, order, every, 10)]
    [[0, 2], [1, 0], [4.0, 2.0]]
    """
    if compiled_is_due(_steps(len(query_starts) - 1, range_starts, range_ends, len(order))):
        from lexfuse.kernels.top_k_numba import best_of

        arrays = read_only_views(query_starts, range_starts, range_ends, factors, docs, impacts, order, within)
        compiled: tuple[I64, I32, F32] = best_of(*arrays, k)
        return compiled
    found, reached = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
    for start, end in pairwise(query_starts.tolist()):
        scores = _summed(range_starts[start:end], range_ends[start:end], factors[start:end], docs, impacts, len(order))
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
    """The score of every pair of query and document, summed in the order of `best` for the same bits.

    >>> one = np.ones(1, np.float32)
    >>> zero = np.zeros(1, np.int32)
    >>> pair_scores(zero, zero, np.array([0, 1]), np.array([0]), np.array([1]), 2 * one, zero, 3 * one).tolist()
    [6.0]
    """
    if compiled_is_due(_steps(len(row_starts) - 1, range_starts, range_ends, len(docs))):
        from lexfuse.kernels import postings_numba

        arrays = read_only_views(query, doc, row_starts, range_starts, range_ends, factors, docs, impacts)
        compiled: F32 = postings_numba.pair_scores(*arrays)
        return compiled
    scores = np.zeros(len(query), dtype=np.float32)
    documents = int(max(doc.max(initial=-1), docs.max(initial=-1))) + 1
    for row in np.unique(query).tolist():
        part = slice(row_starts[row], row_starts[row + 1])
        pairs = query == row
        scores[pairs] = _summed(range_starts[part], range_ends[part], factors[part], docs, impacts, documents)[doc[pairs]]
    return scores


def row_scores(docs: I32, starts: I64, terms: I32, impacts: F32, asked: I32, factors: F32, term_count: int) -> F32:
    """The scores of documents for one query by their rows of terms, summed in the order of `best` for the same bits.

    >>> terms, impacts, factors = np.array([0, 1, 1], np.int32), np.array([1, 2, 3], np.float32), np.array([10, 1], np.float32)
    >>> docs, asked = np.array([1, 0], np.int32), np.array([1, 0], np.int32)
    >>> row_scores(docs, np.array([0, 2, 3]), terms, impacts, asked, factors, 2).tolist()
    [30.0, 21.0]
    """
    if compiled_is_due(_CALL * len(asked) + 200 * len(docs)):
        from lexfuse.kernels import postings_numba

        arrays = read_only_views(docs, starts, terms, impacts, asked, factors)
        compiled: F32 = postings_numba.row_scores(*arrays, term_count)
        return compiled
    lengths = starts[docs + 1] - starts[docs]
    owner = np.repeat(np.arange(len(docs)), lengths)
    at = np.repeat(starts[docs] - offsets_of(lengths)[:-1], lengths) + np.arange(len(owner))
    place = np.full(term_count, -1, dtype=np.int64)
    place[asked] = np.arange(len(asked))
    held = place[terms[at]] >= 0
    weights = np.zeros((len(asked), len(docs)), dtype=np.float32)
    weights[place[terms[at[held]]], owner[held]] = impacts[at[held]]
    scores = np.zeros(len(docs), dtype=np.float32)
    for factor, own in zip(factors, weights, strict=True):
        scores += factor * own
    return scores


def _summed(ranges: I64, ends: I64, factors: F32, docs: I32, impacts: F32, documents: int) -> F32:
    """The score of every document for one query."""
    scores = np.zeros(documents, dtype=np.float32)
    for start, end, factor in zip(ranges.tolist(), ends.tolist(), factors, strict=True):
        scores[docs[start:end]] += factor * impacts[start:end]
    return scores


def _steps(queries: int, range_starts: I64, range_ends: I64, size: int) -> int:
    """The approximate numpy steps of scoring."""
    return queries * (_CALL + size) + _CALL * len(range_starts) + int((range_ends - range_starts).sum())


_CALL = 1000  # steps of one numpy call of any size
