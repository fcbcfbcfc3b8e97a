"""Combine rankings of several sources: align by document, rank, and select the best k.

Each loop exists twice with bit-equal results: compiled by numba, and in numpy for small work, which is done before numba is
loaded (see `lexfuse.kernels.postings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I32, I64, Bools, offsets_of
from lexfuse.kernels.compilation import compiled_is_due, read_only_view, read_only_views
from lexfuse.kernels.threads import run_on_cores

_STEPS = 50  # approximate numpy steps per candidate
BLOCK = 1 << 18  # scores processed at once


def align(starts: Sequence[I64], docs: Sequence[I32], scores: Sequence[F32], documents: int) -> tuple[I64, I32, F64, I32]:
    """Every document that a source ranks for a query, once, in order of first mention.

    Returns the offsets of queries, the documents, and for each source its score (NaN if missing) and rank from 1 (0 if missing).

    >>> lists = [np.array([7, 5], np.int32), np.array([5], np.int32)]
    >>> values = [np.array([2, 1], np.float32), np.array([9], np.float32)]
    >>> [array.tolist() for array in align([np.array([0, 2]), np.array([0, 1])], lists, values, 8)]
    [[0, 2], [7, 5], [[2.0, 1.0], [nan, 9.0]], [[1, 2], [0, 1]]]
    """
    table = np.stack(starts).astype(np.int64)
    if compiled_is_due(_STEPS * sum(map(len, docs))):
        return _compiled_aligned(table, docs, scores, documents)
    bases = offsets_of(np.array([len(row) for row in docs], dtype=np.int64))
    doc, score = np.concatenate(docs).astype(np.int32, copy=False), np.concatenate(scores).astype(np.float32, copy=False)
    lengths = np.diff(table, axis=1)
    query = np.concatenate([np.repeat(np.arange(table.shape[1] - 1), length) for length in lengths])
    key = query * max(documents, 1) + doc
    distinct, first = np.unique(key, return_index=True)
    by_mention = np.lexsort((first, distinct // max(documents, 1)))
    slot = np.empty(len(distinct), dtype=np.int64)
    slot[by_mention] = np.arange(len(distinct))
    to = slot[np.searchsorted(distinct, key)]
    source = np.repeat(np.arange(len(docs)), np.diff(bases))
    values = np.full((len(docs), len(distinct)), np.nan)
    values[source, to] = score
    places = np.zeros((len(docs), len(distinct)), dtype=np.int32)
    places[source, to] = np.arange(len(doc)) - bases[source] - table[source, query] + 1
    union = distinct[by_mention]
    offsets = np.searchsorted(union // max(documents, 1), np.arange(table.shape[1]))
    return offsets, (union % max(documents, 1)).astype(np.int32), values, places


def _compiled_aligned(table: I64, docs: Sequence[I32], scores: Sequence[F32], documents: int) -> tuple[I64, I32, F64, I32]:
    """`align` on all cores, in blocks of queries: one pass counts, one fills."""
    from lexfuse.kernels import fusion_numba

    def starts(first: int, last: int) -> tuple[NDArray[Any], ...]:
        inside = table[:, first : last + 1] - table[:, first : first + 1]
        return read_only_views(offsets_of(inside[:, -1]), inside)

    def together(columns: Sequence[NDArray[Any]], first: int, last: int) -> NDArray[Any]:
        return read_only_view(
            np.concatenate([column[row[first] : row[last]] for column, row in zip(columns, table, strict=True)])
        )

    def count(first: int, last: int) -> None:
        counts[first:last] = fusion_numba.counted(*starts(first, last), together(docs, first, last), documents)

    def fill(first: int, last: int) -> None:
        columns = together(docs, first, last), together(scores, first, last)
        fusion_numba.aligned(
            *starts(first, last), *columns, documents, read_only_view(offsets[first : last + 1]), union, values, places
        )

    queries = table.shape[1] - 1
    at_once = queries_at_once(queries, int(table[:, -1].sum()))
    counts = np.zeros(queries, dtype=np.int64)
    run_on_cores(count, queries, at_once)
    offsets = offsets_of(counts)
    union = np.empty(offsets[-1], dtype=np.int32)
    values, places = np.empty((len(docs), len(union))), np.empty((len(docs), len(union)), dtype=np.int32)
    run_on_cores(fill, queries, at_once)
    return offsets, union, values, places


def queries_at_once(queries: int, candidates: int) -> int:
    """The number of queries per block, such that the values of their candidates stay in the cache.

    >>> queries_at_once(1000, 2_000_000), queries_at_once(3, 30)
    (131, 3)
    """
    return max(1, min(queries, BLOCK * queries // max(candidates, 1)))


def rank(offsets: I64, scores: F64, known: Bools, listed: Bools, order: I32) -> I32:
    """The rank from 1 of every candidate among those of its query with a known score; 0 for the others.

    Scores are compared as 32-bit floats, as in a run; ties are ordered by ``order``. But candidates that the source does not list
    and that have equal scores share a rank: a source that gives thousands the same score (0, no word matches) does not rank them
    by name.

    >>> every, three = np.ones(3, bool), np.array([5, 6, 4], np.int32)
    >>> rank(np.array([0, 3]), np.array([1.0, 2.0, 1.0]), every, every, three).tolist()
    [3, 1, 2]
    >>> rank(np.array([0, 3]), np.array([0.0, 2.0, 0.0]), every, np.array([False, True, False]), three).tolist()
    [2, 1, 2]
    """
    single = np.where(known, scores, 0.0).astype(np.float32)
    if compiled_is_due(_STEPS * len(scores)):
        from lexfuse.kernels import fusion_numba

        found: I32 = fusion_numba.ranked(*read_only_views(offsets, single, known, listed, order))
        return found
    ranks = np.zeros(len(scores), dtype=np.int32)
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    at = np.flatnonzero(known)
    sorted_ = at[np.lexsort((order[at], -single[at], query[at]))]
    before = np.concatenate(([0], np.cumsum(np.bincount(query[at], minlength=len(offsets) - 1))))
    place = np.arange(len(sorted_))
    distinct = listed[sorted_] | (np.diff(query[sorted_], prepend=-1) != 0) | (np.diff(single[sorted_], prepend=np.nan) != 0)
    distinct[1:] |= listed[sorted_[:-1]]
    first = np.maximum.accumulate(np.where(distinct, place, 0)) if len(place) else place
    ranks[sorted_] = first - before[query[sorted_]] + 1
    return ranks


def best(offsets: I64, scores: F32, order: I32, k: int) -> tuple[I64, I64]:
    """The best k candidates of every query: the offsets of their lists, and the candidates.

    >>> starts, chosen = best(np.array([0, 3]), np.array([1, 2, 1], np.float32), np.array([5, 6, 4], np.int32), 2)
    >>> starts.tolist(), chosen.tolist()
    ([0, 2], [1, 2])
    """
    if compiled_is_due(_STEPS * len(scores)):
        from lexfuse.kernels import fusion_numba

        found: tuple[I64, I64] = fusion_numba.best(*read_only_views(offsets, scores, order), k)
        return found
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    by_score = np.lexsort((order, -scores, query))
    place = np.arange(len(scores)) - offsets[query]
    return offsets_of(np.minimum(np.diff(offsets), k)), by_score[place < k]


def smooth_ranks(offsets: I64, scores: F64, known: Bools, listed: Bools, beta: float) -> F64:
    """The rank of every candidate with a sigmoid for each comparison (BRUCH, before eq. 9); 0 if unknown.

    >>> every = np.ones(2, bool)
    >>> smooth_ranks(np.array([0, 2]), np.array([2.0, 1.0]), every, every, 1e6).tolist()
    [1.0, 2.0]
    """
    from lexfuse.kernels import fusion_numba  # a sum over pairs: numpy would need too much memory

    found: F64 = fusion_numba.smooth_ranks(*read_only_views(offsets, scores, known, listed), beta)
    return found


def in_order(query: I64, scores: F64, fused: F64) -> F64:
    """Fused 32-bit scores that decrease wherever the scores of a source decrease.

    Normalised scores are closer together than raw ones, and two different ones may round to the same 32-bit float. The lower one
    then becomes the next lower float.

    >>> found = in_order(np.array([0, 0]), np.array([2.0, 1.0]), np.array([0.5, 0.5]))
    >>> found.round(6).tolist(), bool(found[1] < found[0])
    ([0.5, 0.5], True)
    """
    order = np.lexsort((-scores, query))
    bits = (fused[order].astype(np.float32) + np.float32(0.0)).view(np.int32).astype(np.int64)
    apart = query[order] << 34  # keeps queries apart
    places = apart - np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)  # integers that rise as the score falls
    falls = np.cumsum(np.diff(scores[order], prepend=np.inf) < 0)
    lower = np.maximum.accumulate(places - falls) + falls - apart
    found = np.empty(len(fused))
    found[order] = np.where(lower > 0, lower | 0x80000000, -lower).astype(np.uint32).view(np.float32)
    return found
