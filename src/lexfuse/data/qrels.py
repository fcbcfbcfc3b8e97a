"""Relevance judgements: which documents answer which query, and how well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import I32, I64, offsets_of, read_only
from lexfuse.data.ids import Ids
from lexfuse.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Qrels:
    """Judgements in CSR over queries; within a query, documents ascend by ordinal.

    A grade above 0 is relevant; 0 and negative grades are judged not relevant.

    >>> Qrels.of([("q1", "d1", 2), ("q1", "d2", 0)]).as_dict()
    {'q1': {'d1': 2, 'd2': 0}}
    """

    queries: Ids
    docs: Ids
    offsets: I64
    doc: I32
    grade: I32

    @classmethod
    def of(cls, triples: Iterable[tuple[str, str, int]]) -> Qrels:
        """Build from (query, document, grade); a repeated pair is a `DataError`."""
        query_names, doc_names, grades = _transposed(triples)
        queries, docs = Ids(dict.fromkeys(query_names)), Ids(dict.fromkeys(doc_names))
        query, doc = queries.ordinals(query_names), docs.ordinals(doc_names)
        return cls.from_arrays(queries, docs, query, doc, np.array(grades, dtype=np.int32))

    @classmethod
    def from_arrays(cls, queries: Ids, docs: Ids, query: I32, doc: I32, grade: I32) -> Qrels:
        """Build from parallel arrays of ordinals and grades, in any order.

        >>> Qrels.from_arrays(Ids("q"), Ids("ab"), *np.array([[0, 0], [1, 0], [1, 2]], np.int32)).as_dict()
        {'q': {'a': 2, 'b': 1}}
        """
        order = np.lexsort((doc, query))
        query, doc, grade = query[order], doc[order], grade[order]
        twice = np.flatnonzero((np.diff(query) == 0) & (np.diff(doc) == 0))
        if len(twice):
            at = int(twice[0])
            raise DataError(f"query {queries[int(query[at])]!r} judges document {docs[int(doc[at])]!r} twice; keep one line")
        offsets = offsets_of(np.bincount(query, minlength=len(queries)))
        return cls(queries, docs, read_only(offsets), read_only(doc.astype(np.int32)), read_only(grade.astype(np.int32)))

    def judged(self, query: str) -> Mapping[str, int]:
        """The judged documents of a query with their grades."""
        row = self.queries.ordinal(query)
        span = slice(int(self.offsets[row]), int(self.offsets[row + 1]))
        return {self.docs[int(d)]: int(g) for d, g in zip(self.doc[span], self.grade[span], strict=True)}

    def as_dict(self) -> dict[str, dict[str, int]]:
        """The judgements as plain dictionaries, for other libraries."""
        return {query: dict(self.judged(query)) for query in self.queries}

    def __len__(self) -> int:
        """The number of judgements."""
        return len(self.doc)


def _transposed(triples: Iterable[tuple[str, str, int]]) -> tuple[list[str], list[str], list[int]]:
    rows = list(triples)
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
