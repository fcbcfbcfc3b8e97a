"""The inner loops of the inverted file: build posting lists, sum scores, select the best k.

Nothing is approximate: every posting of every query term is added, and the best k are sorted by descending score, then by
ascending ``order`` (the position of a document's id among all ids).

Each loop exists twice with bit-equal results: compiled by numba, and in numpy. Loading numba and its compiled code takes a
second, more than a few queries take in numpy. So work starts in numpy and is counted; numba is loaded once the work exceeds the
cost of loading.
"""

from __future__ import annotations

from lexfuse.data.arrays import F32, I32, I64, Bools
from lexfuse.kernels import postings_numpy
from lexfuse.kernels.compilation import compiled_is_due, read_only_view


def invert(starts: I64, terms: I32, weights: F32, numbers: I32) -> tuple[I64, I32, F32, F32]:
    """Turn documents (term ids in CSR, with weights or none for 1) into posting lists with ascending documents.

    ``numbers`` maps each term id to its list. Returns the offsets of the lists, documents, summed weights, and the length of each
    document.

    >>> import numpy as np
    >>> numbers, ones = np.array([0, 1], np.int32), np.ones(3, np.float32)
    >>> offsets, docs, sums, _ = invert(np.array([0, 2, 3]), np.array([1, 1, 0], np.int32), ones, numbers)
    >>> offsets.tolist(), docs.tolist(), sums.tolist()
    ([0, 1, 2], [1, 0], [1.0, 2.0])
    """
    if not compiled_is_due(20 * len(terms)):
        return postings_numpy.invert(starts, terms, weights, numbers)
    from lexfuse.kernels import postings_numba

    fixed = read_only_view
    inverted: tuple[I64, I32, F32, F32] = postings_numba.invert(fixed(starts), fixed(terms), fixed(weights), fixed(numbers))
    return inverted


def distinct(starts: I64, terms: I32, term_count: int) -> tuple[I64, I32, F32]:
    """Each query's distinct terms in order of first occurrence, with their counts.

    >>> import numpy as np
    >>> [array.tolist() for array in distinct(np.array([0, 3]), np.array([5, 2, 5], np.int32), 6)]
    [[0, 2], [5, 2], [2.0, 1.0]]
    """
    if not compiled_is_due(_CALL * len(starts) + 5 * len(terms)):
        return postings_numpy.distinct(starts, terms)
    from lexfuse.kernels import postings_numba

    rows: tuple[I64, I32, F32] = postings_numba.distinct(read_only_view(starts), read_only_view(terms), term_count)
    return rows


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

    >>> import numpy as np
    >>> starts, ends, ones = np.array([0, 2]), np.array([2, 3]), np.ones(2, np.float32)
    >>> docs, impacts = np.array([0, 1, 1], np.int32), np.array([2, 1, 3], np.float32)
    >>> every, order = np.empty(0, np.bool_), np.array([0, 1], np.int32)
    >>> [array.tolist() for array in best(np.array([0, 2]), starts, ends, ones, docs, impacts, order, every, 10)]
    [[0, 2], [1, 0], [4.0, 2.0]]
    """
    steps = _steps(len(query_starts) - 1, range_starts, range_ends, len(order))
    if not compiled_is_due(steps):
        return postings_numpy.best(query_starts, range_starts, range_ends, factors, docs, impacts, order, within, k)
    from lexfuse.kernels.top_k_numba import best_of

    queries = read_only_view(query_starts), read_only_view(range_starts), read_only_view(range_ends), read_only_view(factors)
    found: tuple[I64, I32, F32] = best_of(
        *queries, read_only_view(docs), read_only_view(impacts), read_only_view(order), read_only_view(within), k
    )
    return found


def pair_scores(
    query: I32, doc: I32, row_starts: I64, range_starts: I64, range_ends: I64, factors: F32, docs: I32, impacts: F32
) -> F32:
    """The score of every pair of query and document, summed in the order of `best` for the same bits.

    >>> import numpy as np
    >>> one = np.ones(1, np.float32)
    >>> zero = np.zeros(1, np.int32)
    >>> pair_scores(zero, zero, np.array([0, 1]), np.array([0]), np.array([1]), 2 * one, zero, 3 * one).tolist()
    [6.0]
    """
    if not compiled_is_due(_steps(len(row_starts) - 1, range_starts, range_ends, len(docs))):
        return postings_numpy.pair_scores(query, doc, row_starts, range_starts, range_ends, factors, docs, impacts)
    from lexfuse.kernels import postings_numba

    fixed = read_only_view
    rows = fixed(row_starts), fixed(range_starts), fixed(range_ends), fixed(factors)
    scores: F32 = postings_numba.pair_scores(fixed(query), fixed(doc), *rows, fixed(docs), fixed(impacts))
    return scores


def _steps(queries: int, range_starts: I64, range_ends: I64, size: int) -> int:
    """The approximate numpy steps of scoring."""
    return queries * (_CALL + size) + _CALL * len(range_starts) + int((range_ends - range_starts).sum())


_CALL = 1000  # steps of one numpy call of any size
