"""The ranks of the relevant documents of every query in a run: the one small table that every measure reads.

A ranking of a thousand documents holds a handful of relevant ones, and only their ranks and grades enter a measure. So a run
is scanned once, only as deep as the measures look, and what comes out is (query, rank, grade) of the relevant hits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F64, I32, I64, Bools, read_only
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import DataError

_SLOTS_PER_JUDGEMENT = 16
_SPREAD_DOC, _SPREAD_QUERY = np.uint32(2654435761), np.uint32(2246822519)  # odd constants that mix the low bits well


@dataclass(frozen=True, slots=True, eq=False)
class RelevanceTable:
    """The relevant judgements of the evaluated queries, and those of them that the run ranks.

    Evaluated are the queries of the qrels with at least one relevant document, in the order of the qrels.

    >>> run = Run.of("bm25", {"q1": {"d1": 2.0, "d2": 1.0}})
    >>> aligned = relevance_table(Qrels.of([("q1", "d2", 1), ("q1", "d3", 2)]), run)
    >>> aligned.hit_rank.tolist(), aligned.relevant_grade.tolist(), aligned.returned.tolist()
    ([2], [1, 2], [2])
    """

    queries: Ids
    relevant_query: I64  # one row per relevant judgement (grade 1 or more), by query
    relevant_grade: I32
    hit_query: I64  # one row per relevant document that the run ranks, by query, then rank
    hit_rank: I64
    hit_grade: I32
    returned: I64  # per query, how many documents the run ranks
    missing: tuple[str, ...]  # evaluated, but the run ranks nothing
    unjudged: tuple[str, ...]  # ranked, but without judgements
    without_relevant: tuple[str, ...]  # judged, but nothing is relevant

    def relevant(self, rel: int = 1) -> I64:
        """How many documents of at least this grade each query has.

        >>> run = Run.of("bm25", {"q1": {"d1": 2.0}})
        >>> relevance_table(Qrels.of([("q1", "d2", 1), ("q1", "d3", 2)]), run).relevant(rel=2).tolist()
        [1]
        """
        rows = self.relevant_query if rel <= 1 else self.relevant_query[self.relevant_grade >= rel]
        return np.bincount(rows, minlength=len(self.queries))

    def hits(self, cutoff: int | None = None, rel: int = 1) -> tuple[I64, I64, I32]:
        """Query, rank and grade of the relevant documents in the first `cutoff` ranks, by query, then rank.

        >>> aligned = relevance_table(Qrels.of([("q1", "d1", 1)]), Run.of("bm25", {"q1": {"d1": 2.0}}))
        >>> [column.tolist() for column in aligned.hits(10)]
        [[0], [1], [1]]
        """
        keep: Bools = np.ones(len(self.hit_rank), dtype=np.bool_) if cutoff is None else self.hit_rank <= cutoff
        if rel > 1:
            keep = keep & (self.hit_grade >= rel)
        return self.hit_query[keep], self.hit_rank[keep], self.hit_grade[keep]

    def found(self, cutoff: int | None, rel: int) -> I64:
        """How many relevant documents of each query are in the first `cutoff` ranks."""
        return np.bincount(self.hits(cutoff, rel)[0], minlength=len(self.queries))

    def with_ranks(self, ranks: I32) -> RelevanceTable:
        """The same where the relevant documents have other ranks, given in the order of the hits."""
        order = np.lexsort((ranks, self.hit_query))
        query, grade = self.hit_query[order], self.hit_grade[order]
        return replace(self, hit_query=query, hit_rank=ranks[order].astype(np.int64), hit_grade=grade)

    def percentile(self, query: I64, rank: I64) -> F64:
        """For each ranked relevant document, the share of its ranking that does not come before it."""
        return 1.0 - (rank - 1) / self.returned[query]


def relevance_table(qrels: Qrels, run: Run, depth: int | None = None) -> RelevanceTable:
    """Find the relevant documents of a run, looking at the first `depth` ranks only (None: all of them).

    Queries are matched by id, never by position. Where run and qrels share their `Ids` no name is looked up.

    >>> relevance_table(Qrels.of([("q1", "d1", 1)]), Run.of("bm25", {"q2": {"d1": 1.0}})).missing
    ('q1',)
    """
    judged = np.diff(qrels.offsets)
    relevant = qrels.grade > 0
    row = np.repeat(np.arange(len(qrels.queries)), judged)[relevant]
    evaluated = np.bincount(row, minlength=len(qrels.queries)) > 0
    if not evaluated.any():
        raise DataError(f"none of the {len(qrels.queries)} judged queries has a relevant document (grade 1 or more)")
    everything = bool(evaluated.all())
    queries = qrels.queries if everything else Ids(_named(qrels.queries, evaluated))
    query = row if everything else (np.cumsum(evaluated) - 1)[row]
    grade = qrels.grade[relevant]

    start, returned = _rankings(qrels, run, queries, evaluated)
    doc = qrels.doc[relevant]
    if run.docs is not qrels.docs:
        doc = run.docs.ordinals(qrels.docs)[doc]
    hit_query, hit_rank, judgement = _find(run.doc, start, returned if depth is None else np.minimum(returned, depth), query, doc)
    return RelevanceTable(
        queries=queries,
        relevant_query=read_only(query),
        relevant_grade=read_only(grade),
        hit_query=read_only(hit_query),
        hit_rank=read_only(hit_rank),
        hit_grade=read_only(grade[judgement]),
        returned=read_only(returned),
        missing=tuple(_named(queries, returned == 0)),
        unjudged=_unjudged(qrels, run, judged > 0),
        without_relevant=tuple(_named(qrels.queries, (judged > 0) & ~evaluated)),
    )


def _rankings(qrels: Qrels, run: Run, queries: Ids, evaluated: Bools) -> tuple[I64, I64]:
    """Start and length in the run's columns of each evaluated query's ranking."""
    at = np.flatnonzero(evaluated) if run.queries is qrels.queries else run.queries.ordinals(queries)
    start = run.offsets[at]
    return start, np.where(at >= 0, run.offsets[at + 1] - start, 0)


def _find(ranked: I32, start: I64, length: I64, query: I64, doc: I32) -> tuple[I64, I64, I64]:
    """Query, rank and judgement row of every ranked document that is among the given (query, document) pairs.

    A table of flags addressed by a hash of the pair throws out nearly all that is ranked for the price of one read each; the
    few that remain are looked up exactly.
    """
    known = np.flatnonzero(doc >= 0)  # -1: a judged document that the run never ranks
    pair = (query[known] << 32) | doc[known]
    order = np.argsort(pair)
    pair, known = pair[order], known[order]

    mask = np.uint32((1 << max(16, (_SLOTS_PER_JUDGEMENT * len(pair)).bit_length())) - 1)
    flagged = np.zeros(int(mask) + 1, dtype=np.bool_)
    flagged[_slot(query[known].astype(np.uint32), doc[known], mask)] = True

    ends = np.cumsum(length)
    scanned = _scanned(ranked, start, length, ends)
    slot = _slot(np.repeat(np.arange(len(length), dtype=np.uint32), length), scanned, mask)
    candidate = np.flatnonzero(flagged[slot])
    row = np.searchsorted(ends, candidate, side="right")
    wanted = (row << 32) | scanned[candidate]
    place = np.searchsorted(pair, wanted)
    found = np.flatnonzero(pair[np.minimum(place, len(pair) - 1)] == wanted) if len(pair) else place[:0]
    row = row[found]
    return row, candidate[found] - (ends - length)[row] + 1, known[place[found]]


def _scanned(ranked: I32, start: I64, length: I64, ends: I64) -> I32:
    """The documents of all rankings one after the other; no copy where the run already holds them so."""
    if np.array_equal(start, start[0] + ends - length):
        return ranked[int(start[0]) : int(start[0] + ends[-1])]
    gathered: I32 = ranked[np.arange(int(ends[-1])) + np.repeat(start - (ends - length), length)]
    return gathered


def _slot(query: NDArray[np.uint32], doc: I32, mask: np.uint32) -> NDArray[np.uint32]:
    slot = query * _SPREAD_QUERY
    slot += doc.view(np.uint32) * _SPREAD_DOC
    slot &= mask
    return slot


def _unjudged(qrels: Qrels, run: Run, judged: Bools) -> tuple[str, ...]:
    ranked = np.diff(run.offsets) > 0
    at = np.arange(len(qrels.queries)) if run.queries is qrels.queries else qrels.queries.ordinals(run.queries)
    with_judgements = np.append(judged, False)[at]  # -1, a query the qrels do not know, reads the last: False
    return tuple(_named(run.queries, ranked & ~with_judgements))


def _named(ids: Ids, which: Bools) -> list[str]:
    return [ids[int(ordinal)] for ordinal in np.flatnonzero(which)]
