"""A run: for every query a ranking with scores, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, frozen, offsets_of
from lexfuse.data.ids import Ids
from lexfuse.errors import DataError


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked document: rank from 1, score, and the raw score of every source that has one.

    >>> Hit("d1", 1, 2.5).rank
    1
    """

    doc: str
    rank: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Rankings in CSR over queries, each by score descending, then document id ascending.

    That order is the one tie rule of LexFuse; `Run.of` and `Run.from_arrays` establish it.

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
    parts: Mapping[str, F32] = field(default_factory=dict)  # per source, parallel to doc; NaN: that source has none

    @classmethod
    def of(cls, name: str, rankings: Mapping[str, Mapping[str, float]]) -> Run:
        """A run from plain dictionaries, query to document to score.

        >>> Run.of("x", {"q": {"d": 1.0}}).hits("q")[0].score
        1.0
        """
        queries = Ids(rankings)
        docs = Ids(dict.fromkeys(doc for ranking in rankings.values() for doc in ranking))
        query = np.repeat(np.arange(len(queries), dtype=np.int32), [len(ranking) for ranking in rankings.values()])
        doc = docs.ordinals(doc for ranking in rankings.values() for doc in ranking)
        score = np.array([s for ranking in rankings.values() for s in ranking.values()], dtype=np.float32)
        return cls.from_arrays(name, queries, docs, query, doc, score)

    @classmethod
    def from_arrays(
        cls, name: str, queries: Ids, docs: Ids, query: I32, doc: I32, score: F32, parts: Mapping[str, F32] | None = None
    ) -> Run:
        """A run from parallel arrays of ordinals and scores, in any order.

        NaN scores and a document ranked twice for one query are `DataError`.

        >>> Run.from_arrays("x", Ids("q"), Ids("ab"), np.zeros(2, np.int32), np.arange(2, dtype=np.int32),
        ...                 np.array([1, 2], np.float32)).hits("q")[0].doc
        'b'
        """
        if np.isnan(score).any():
            at = int(np.flatnonzero(np.isnan(score))[0])
            raise DataError(f"run {name!r}, query {queries[int(query[at])]!r}: document {docs[int(doc[at])]!r} has the score NaN")
        order = np.lexsort((docs.order[doc], -score, query))
        query, doc, score = query[order], doc[order].astype(np.int32), score[order].astype(np.float32)
        _refuse_repeats(name, queries, docs, query, doc)
        offsets = offsets_of(np.bincount(query, minlength=len(queries)))
        ordered = {source: frozen(values[order].astype(np.float32)) for source, values in (parts or {}).items()}
        return cls(name, queries, docs, frozen(offsets), frozen(doc), frozen(score), ordered)

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
        """The rankings as plain dictionaries, for other libraries.

        >>> Run.of("x", {"q": {"d": 1.0}}).as_dict()
        {'q': {'d': 1.0}}
        """
        return {query: {hit.doc: hit.score for hit in self.hits(query)} for query in self.queries}

    def __len__(self) -> int:
        """How many hits there are, over all queries."""
        return len(self.doc)


def _refuse_repeats(name: str, queries: Ids, docs: Ids, query: I32, doc: I32) -> None:
    pair = np.sort(query.astype(np.int64) * max(len(docs), 1) + doc)
    twice = np.flatnonzero(np.diff(pair) == 0)
    if len(twice):
        row, at = divmod(int(pair[twice[0]]), len(docs))
        raise DataError(f"run {name!r}, query {queries[row]!r}: document {docs[at]!r} is ranked twice; keep one line")
