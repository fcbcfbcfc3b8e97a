"""A run: a ranking with scores for every query, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from lexfuse.data.arrays import F32, F64, I32, I64, Bools, offsets_of, read_only
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.errors import ConfigError, DataError

_ROUNDING = 1e-6  # how far below its bound rounding may put a score, as a share of the bound


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked document: its rank (from 1), its score, and the raw score from each source that scored it."""

    doc: str
    rank: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Rankings in CSR over queries, each sorted by descending score, then by document id.

    This is the one tie rule of LexFuse; `Run.of` and `Run.from_arrays` apply it.

    >>> run = Run.of("bm25", {"q1": {"d2": 1.0, "d1": 1.0, "d3": 2.0}})
    >>> [hit.doc for hit in run.hits("q1")]
    ['d3', 'd1', 'd2']
    """

    name: str
    queries: Ids
    docs: Ids
    offsets: I64
    doc: I32
    score: F32
    parts: Mapping[str, F32] = field(default_factory=dict)  # per source, parallel to doc; NaN: not scored by it
    low: F64 | None = None  # lowest possible score of each query, -inf if unbounded; None: unknown

    @classmethod
    def of(cls, name: str, rankings: Mapping[str, Mapping[str, float]]) -> Run:
        """Build from nested dictionaries: query, document, score."""
        queries = Ids(rankings)
        names = list(chain.from_iterable(rankings.values()))
        docs = Ids(sorted(set().union(*rankings.values())))
        query = np.repeat(np.arange(len(queries), dtype=np.int32), [len(ranking) for ranking in rankings.values()])
        scores = chain.from_iterable(ranking.values() for ranking in rankings.values())
        score = np.fromiter(scores, dtype=np.float32, count=len(names))
        return cls._ranked(name, queries, docs, query, docs.ordinals(names), score, {})  # keys are unique

    @classmethod
    def from_arrays(
        cls, name: str, queries: Ids, docs: Ids, query: I32, doc: I32, score: F32, parts: Mapping[str, F32] | None = None
    ) -> Run:
        """Build from parallel arrays of ordinals and scores, in any order.

        A NaN score and a document ranked twice for one query are `DataError`.

        >>> Run.from_arrays("x", Ids("q"), Ids("ab"), np.zeros(2, np.int32), np.arange(2, dtype=np.int32),
        ...                 np.array([1, 2], np.float32)).hits("q")[0].doc
        'b'
        """
        _refuse_repeats(name, queries, docs, query, doc)
        return cls._ranked(name, queries, docs, query, doc, score, parts or {})

    @classmethod
    def _ranked(cls, name: str, queries: Ids, docs: Ids, query: I32, doc: I32, score: F32, parts: Mapping[str, F32]) -> Run:
        score = score.astype(np.float32, copy=False)
        if np.isnan(score).any():
            at = int(np.flatnonzero(np.isnan(score))[0])
            raise DataError(f"run {name!r}, query {queries[int(query[at])]!r}: document {docs[int(doc[at])]!r} has the score NaN")
        order = _ranking_order(docs, query, doc, score)
        offsets = offsets_of(np.bincount(query, minlength=len(queries)))
        ordered = {source: read_only(values[order].astype(np.float32)) for source, values in parts.items()}
        return cls(
            name, queries, docs, read_only(offsets), read_only(doc[order].astype(np.int32)), read_only(score[order]), ordered
        )

    @property
    def query(self) -> I32:
        """The ordinal of the query of every hit."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int32), np.diff(self.offsets))

    def select(self, hits: I64 | Bools) -> Run:
        """The run with only some of its hits, given by their places or by a mask; without the scores of sources.

        >>> Run.of("bm25", {"q1": {"d1": 2.0, "d2": 1.0}}).select(np.array([1])).as_dict()
        {'q1': {'d2': 1.0}}
        """
        some = Run.from_arrays(self.name, self.queries, self.docs, self.query[hits], self.doc[hits], self.score[hits])
        return replace(some, low=self.low)

    def without_self(self, depth: int) -> Run:
        """The best hits of every query without its own document, for queries that are documents of the collection.

        A query's own document is the one that has its id.

        >>> Run.of("bm25", {"a": {"a": 3.0, "b": 2.0, "c": 1.0}}).without_self(1).as_dict()
        {'a': {'b': 2.0}}
        """
        counts = np.diff(self.offsets)
        other = self.doc != np.repeat(self.docs.ordinals(self.queries.names), counts)
        passed = np.cumsum(other) - other  # other hits before each one, of all queries
        first = np.concatenate(([0], np.cumsum(other)))[self.offsets[:-1]]
        return self.select(other & (passed - np.repeat(first, counts) < depth))

    def bounded(self, low: float | Mapping[str, float]) -> Run:
        """The same run with the lowest score that its source can give (BRUCH eq. 4), for all queries or for each.

        It is 0 for BM25 and SPLADE, -1 for a cosine, minus the number of query tokens for MaxSim. A score below it is a
        `DataError`.

        >>> Run.of("dense", {"q": {"d": 0.4}}).bounded(-1.0).low.tolist()
        [-1.0]
        """
        each = [low.get(query, np.nan) for query in self.queries] if isinstance(low, Mapping) else [low] * len(self.queries)
        lows = np.array(each, dtype=np.float64)
        if not np.isfinite(lows).all():
            at = int(np.flatnonzero(~np.isfinite(lows))[0])
            got = "nothing for it" if isinstance(low, Mapping) and self.queries[at] not in low else str(lows[at])
            raise ConfigError(
                f"run {self.name!r}, query {self.queries[at]!r}: the lowest possible score must be a number, got {got}"
            )
        floor = np.repeat(lows - _ROUNDING * np.maximum(np.abs(lows), 1.0), np.diff(self.offsets))
        below = np.flatnonzero(self.score < floor)
        if len(below):
            at = int(below[0])
            query = int(np.searchsorted(self.offsets, at, side="right")) - 1
            raise DataError(
                f"run {self.name!r}, query {self.queries[query]!r}: document {self.docs[int(self.doc[at])]!r} has the score "
                f"{self.score[at]:g}, below the stated bound {lows[query]:g}; state a bound that holds for every score"
            )
        return replace(self, low=read_only(lows))

    def hits(self, query: str) -> list[Hit]:
        """The ranking of one query.

        >>> Run.of("x", {"q": {"d": 1.0}}).hits("q")
        [Hit(doc='d', rank=1, score=1.0, parts={})]
        """
        row = self.queries.ordinal(query)
        start, stop = int(self.offsets[row]), int(self.offsets[row + 1])
        return [
            Hit(
                doc=self.docs[int(self.doc[at])],
                rank=at - start + 1,
                score=float(self.score[at]),
                parts={source: float(values[at]) for source, values in self.parts.items() if not np.isnan(values[at])},
            )
            for at in range(start, stop)
        ]

    def as_dict(self) -> dict[str, dict[str, float]]:
        """The rankings as nested dictionaries, for other libraries."""
        return {query: {hit.doc: hit.score for hit in self.hits(query)} for query in self.queries}

    def __len__(self) -> int:
        """The number of hits over all queries."""
        return len(self.doc)


def _refuse_repeats(name: str, queries: Ids, docs: Ids, query: I32, doc: I32) -> None:
    pair = np.sort(query.astype(np.int64) * max(len(docs), 1) + doc)
    twice = np.flatnonzero(np.diff(pair) == 0)
    if len(twice):
        row, at = divmod(int(pair[twice[0]]), len(docs))
        raise DataError(f"run {name!r}, query {queries[row]!r}: document {docs[at]!r} is ranked twice; keep one line")


def _ranking_order(docs: Ids, query: I32, doc: I32, score: F32) -> I64:
    """Order by query, score descending, document id ascending: the order of `np.lexsort` on these keys, several times faster.

    Query and score are packed into one integer for a single sort; names are compared only for equal scores.
    """
    key = (query.astype(np.int64) << 32) | _descending(score)
    order = np.arange(len(key))
    if (key[1:] < key[:-1]).any():  # most rankings are already sorted
        order = np.argsort(key)
        key = key[order]
    same = key[1:] == key[:-1]
    if same.any():
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        order[tied] = order[tied][np.lexsort((docs.order[doc[order[tied]]], key[tied]))]
    return order


def _descending(score: F32) -> I64:
    """Integers from 0 to 2**32 - 1 that ascend as the scores descend; -0.0 and 0.0 get the same integer."""
    bits = (score + np.float32(0.0)).view(np.int32)
    ascending = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))  # IEEE floats order like sign-magnitude integers
    return np.int64(0x7FFFFFFF) - ascending.astype(np.int64)


def join_runs(name: str, queries: Queries, rows: Sequence[I64], runs: Sequence[Run]) -> Run:
    """Join runs over the documents of one snapshot; ``rows`` gives the position of each run's queries among all.

    >>> queries = Queries.of([Query("p", "…"), Query("q", "…")])
    >>> of_q, of_p = Run.of("x", {"q": {"a": 1.0}}), Run.of("x", {"p": {"a": 2.0}})
    >>> join_runs("x", queries, [np.array([1]), np.array([0])], [of_q, of_p]).as_dict()
    {'p': {'a': 2.0}, 'q': {'a': 1.0}}
    """
    sizes = np.zeros(len(queries), dtype=np.int64)
    for row, run in zip(rows, runs, strict=True):
        sizes[row] = np.diff(run.offsets)
    offsets = offsets_of(sizes)
    doc, score = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1], dtype=np.float32)
    sources = dict.fromkeys(source for run in runs for source in run.parts)
    parts = {source: np.full(offsets[-1], np.nan, dtype=np.float32) for source in sources}
    for row, run in zip(rows, runs, strict=True):
        inside = np.arange(len(run)) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
        places = np.repeat(offsets[:-1][row], np.diff(run.offsets)) + inside
        doc[places], score[places] = run.doc, run.score
        for source, values in run.parts.items():
            parts[source][places] = values
    return Run(name, queries.ids, runs[0].docs, offsets, doc, score, parts, _joined_lows(len(queries), rows, runs))


def _joined_lows(queries: int, rows: Sequence[I64], runs: Sequence[Run]) -> F64 | None:
    """The lowest possible score of each query: -inf if its run states none, ``None`` if no run states any."""
    if all(run.low is None for run in runs):
        return None
    low = np.full(queries, -np.inf)
    for row, run in zip(rows, runs, strict=True):
        if run.low is not None:
            low[row] = run.low
    return low
