"""Pairs of query and document in a run, as numbers of the queries and documents that a retriever knows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lexfuse.data.arrays import F32, I32, Bools
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run


def asked_pairs(queries: Queries, pairs: Run, docs: Ids) -> tuple[I32, I32]:
    """For every pair in a run the number of its query among these queries, and of its document among these documents.

    >>> from lexfuse.data.ids import Ids
    >>> from lexfuse.data.queries import Query
    >>> queries = Queries.of([Query("q1", "…"), Query("q2", "…")])
    >>> [array.tolist() for array in asked_pairs(queries, Run.of("x", {"q2": {"b": 1.0}}), Ids(["a", "b"]))]
    [[1], [1]]
    """
    row = np.repeat(np.arange(len(pairs.queries), dtype=np.int32), np.diff(pairs.offsets))
    return translated(pairs.queries, row, queries.ids), translated(pairs.docs, pairs.doc, docs)


def translated(names: Ids, used: I32, into: Ids) -> I32:
    """Ordinals of names as ordinals of the same names in another list; `NotFoundError` for one that is not there.

    >>> translated(Ids("abc"), np.array([2, 0], np.int32), Ids("ca")).tolist()
    [0, 1]
    """
    if names is into:
        return used
    distinct, place = np.unique(used, return_inverse=True)
    return np.array([into.ordinal(names[at]) for at in distinct.tolist()], dtype=np.int32)[place]


def held_scores(raw: I32, score: Callable[[Bools], F32]) -> F32:
    """The scores of pairs whose documents a channel holds (raw number 0 or more), NaN for the others.

    >>> held_scores(np.array([3, -1], np.int32), lambda held: np.full(int(held.sum()), 0.5, np.float32)).tolist()
    [0.5, nan]
    """
    held = raw >= 0
    scores = np.full(len(raw), np.nan, dtype=np.float32)
    if held.any():
        scores[held] = score(held)
    return scores
