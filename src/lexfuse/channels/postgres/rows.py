"""What the retrievers on PostgreSQL share: masks as bound arrays of document numbers, rows as runs, exact scores of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lexfuse.channels.retriever import Mask, requested_pairs
from lexfuse.data.arrays import F32, F64, Bools, offsets_of
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.deadline import check
from lexfuse.storage.document_numbers import allowed
from lexfuse.storage.postgres.database import Row
from lexfuse.storage.postgres.snapshot import PostgresSnapshot

ALL = "true"
LISTED = "ordinal = ANY(%s::int[])"
UNLISTED = "ordinal <> ALL(%s::int[])"


def condition(within: Mask | None, documents: int) -> tuple[str, list[list[int]]]:
    """A mask as a condition of SQL, and its value: the documents that it allows, or those it excludes if they are fewer.

    >>> condition(np.array([True, True, False]), 3), condition(None, 3)
    (('ordinal <> ALL(%s::int[])', [[2]]), ('true', []))
    """
    if within is None:
        return ALL, []
    flags: Bools = allowed(within, documents)
    excluded = 2 * int(flags.sum()) > documents
    return (UNLISTED if excluded else LISTED), [np.flatnonzero(~flags if excluded else flags).tolist()]


def ranked(name: str, queries: Queries, snapshot: PostgresSnapshot, found: Sequence[Sequence[Row]], low: F64) -> Run:
    """Rows of document number and score, best first, as a run; equal scores go by id."""
    docs, scores = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
    for rows in found:
        numbers = np.array([row[0] for row in rows], dtype=np.int32)
        values = np.array([row[1] for row in rows], dtype=np.float32)
        order = np.lexsort((numbers, -values))  # documents are numbered by id
        docs.append(numbers[order])
        scores.append(values[order])
    offsets = offsets_of(np.array([len(rows) for rows in found], dtype=np.int64))
    return Run(name, queries.ids, snapshot.ids, offsets, np.concatenate(docs), np.concatenate(scores), low=low)


def pair_scores(
    queries: Queries, pairs: Run, snapshot: PostgresSnapshot, score: Callable[[int, list[int]], dict[int, float]], default: float
) -> F32:
    """The scores of pairs: `score` gets the number of a query and those of documents, and gives what it knows of them."""
    query, doc = requested_pairs(queries, pairs, snapshot.ids)
    scores = np.full(len(doc), default, dtype=np.float32)
    for one in np.unique(query).tolist():
        check()
        at = np.flatnonzero(query == one)
        found = score(one, doc[at].tolist())
        scores[at] = [found.get(number, default) for number in doc[at].tolist()]
    return scores


def numbers_of(snapshot: PostgresSnapshot, docs: Sequence[str]) -> list[int]:
    """The numbers of documents; `NotFoundError` for one that is not there."""
    return [snapshot.ids.ordinal(doc) for doc in docs]


def vector_text(values: Any) -> str:
    """A vector as pgvector reads it.

    >>> vector_text(np.array([0.5, -1], dtype=np.float32))
    '[0.5,-1.0]'
    """
    return f"[{','.join(map(repr, values.tolist()))}]"


def sparse_text(places: Any, weights: Any, size: int) -> str:
    """A sparse vector as pgvector reads it, whose places count from 1.

    >>> sparse_text(np.array([4, 1]), np.array([0.5, 2.0]), 10)
    '{2:2.0,5:0.5}/10'
    """
    pairs = sorted(zip(places.tolist(), weights.tolist(), strict=True))
    return f"{{{','.join(f'{place + 1}:{weight!r}' for place, weight in pairs)}}}/{size}"
