"""Exact search over dense vectors: every row counts, nothing is approximated, and scores do not depend on the kind of request.

The score of a passage is the dot product of the query with the row as it is stored (`lexfuse.channels.dense.exact_scores`). The
score of a document is made of those of its passages: the best, their mean (which is the dot product with the mean of the
vectors, as in BSARD), or the mean of the best few. Quick scores choose the documents that may be among the best k
(`CandidateScreen`), exact ones rank them: score descending, then `order` ascending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from lexfuse.channels.dense.candidate_screen import CandidateScreen
from lexfuse.channels.dense.exact_scores import exact_scores
from lexfuse.channels.dense.stored_part import LONGEST, VectorPart, VectorStorage, same_kind
from lexfuse.channels.query_context import known_row, read_once
from lexfuse.data.arrays import F32, F64, I32, I64, Bools, offsets_of, read_only
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.kernels.fusion import best
from lexfuse.storage.part_cache import made_once

QUERIES = 256  # that are answered together
ROOM = 1 << 22  # candidates at once: with a large k fewer queries are answered together
EVERYTHING: Bools = np.empty(0, dtype=np.bool_)  # the mask that allows all documents


@dataclass(frozen=True, slots=True)
class PassagePooling:
    """A document's score is the mean of the scores of its best passages, at most this many; None means all of them.

    >>> PassagePooling(0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a document's score needs at least 1 passage, got 0
    """

    passages: int | None

    BEST: ClassVar[PassagePooling]
    MEAN: ClassVar[PassagePooling]

    def __post_init__(self) -> None:
        """Check the number."""
        if self.passages is not None and self.passages < 1:
            raise ConfigError(f"a document's score needs at least 1 passage, got {self.passages}")


PassagePooling.BEST = PassagePooling(1)
PassagePooling.MEAN = PassagePooling(None)


class FlatSearch:
    """Search over the parts of a channel; documents are numbered part after part.

    `order` is the rank of every document among those of equal score. A mask has a flag for every document, or is empty.
    A document without vectors is never found, and its score is nan.

    >>> search = FlatSearch([VectorPart.of(np.eye(3, dtype=np.float32))], np.arange(3, dtype=np.int32))
    >>> offsets, docs, scores = search.best(np.array([[0, 3, 1]], dtype=np.float32), k=2)
    >>> offsets.tolist(), docs.tolist(), scores.tolist()
    ([0, 2], [1, 2], [3.0, 1.0])
    """

    def __init__(self, parts: Sequence[VectorPart], order: I32) -> None:
        """Take parts as they are; nothing is read yet."""
        same_kind(parts)
        self.parts = list(parts)
        self.order = order
        self._row_bases: I64 = np.cumsum([0, *(part.rows for part in parts)])
        ends = [part.starts[1:] + base for part, base in zip(parts, self._row_bases.tolist(), strict=False)]
        self._starts: I64 = np.concatenate([np.zeros(1, dtype=np.int64), *ends])
        if len(order) != len(self):
            raise ConfigError(f"{len(self):,} documents need as many places in the order, got {len(order):,}")

    def __len__(self) -> int:
        """How many documents."""
        return len(self._starts) - 1

    def prepare(self) -> None:
        """Make ready for single queries now (a copy of the rows), instead of after the first few."""
        self._screen.prepare()

    def best(
        self, queries: F32, k: int, pool: PassagePooling = PassagePooling.BEST, mask: Bools = EVERYTHING
    ) -> tuple[I64, I32, F32]:
        """The best k documents of every query: offsets, documents and scores.

        >>> part = VectorPart.of(np.array([[4], [0], [3]], dtype=np.float32), starts=[0, 2, 3])
        >>> search, one = FlatSearch([part], np.arange(2, dtype=np.int32)), np.ones((1, 1), dtype=np.float32)
        >>> [search.best(one, 1, pool)[1].tolist() for pool in (PassagePooling.BEST, PassagePooling.MEAN)]
        [[0], [1]]
        """
        queries = self._checked(queries)
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        if len(mask) not in (0, len(self)):
            raise ConfigError(f"{len(self):,} documents need as many flags, got {len(mask):,}")
        k = min(k, max(len(self), 1))
        at_once = max(1, min(QUERIES, ROOM // (5 * k)))
        if 0 < len(queries) <= at_once:
            return self._best(queries, k, pool, mask)
        found = [self._best(queries[first : first + at_once], k, pool, mask) for first in range(0, len(queries), at_once)]
        counts = np.concatenate([np.empty(0, dtype=np.int64), *(np.diff(offsets) for offsets, _, _ in found)])
        docs = np.concatenate([np.empty(0, dtype=np.int32), *(docs for _, docs, _ in found)])
        return offsets_of(counts), docs, np.concatenate([np.empty(0, dtype=np.float32), *(scores for _, _, scores in found)])

    def pair_scores(self, queries: F32, query: I32 | I64, doc: I32 | I64, pool: PassagePooling = PassagePooling.BEST) -> F32:
        """The score of every pair of a query and a document, the same bits as in `best`; nan for one without vectors.

        >>> search = FlatSearch([VectorPart.of(np.eye(3, dtype=np.float32))], np.arange(3, dtype=np.int32))
        >>> search.pair_scores(np.array([[0, 3, 1]], dtype=np.float32), np.array([0, 0]), np.array([2, 0])).tolist()
        [1.0, 0.0]
        """
        queries = self._checked(queries)
        pair_query, pair_doc = np.asarray(query, dtype=np.int64), np.asarray(doc, dtype=np.int64)
        _numbered("documents", pair_doc, len(self))
        _numbered("queries", pair_query, len(queries))
        pair, row = self._rows_of(pair_doc)
        scores = np.full(len(pair_doc), np.nan, dtype=np.float32)
        some, number = np.unique(pair, return_inverse=True)
        scores[some] = pooled(self._dots(queries, pair_query[pair], row), number, pool)
        return scores

    def best_passages(self, query: F32, docs: Sequence[int]) -> list[int]:
        """Which of its passages has the highest score, the first of equals, for each document, counted inside it.

        >>> part = VectorPart.of(np.eye(3, dtype=np.float32), starts=[0, 1, 3])
        >>> FlatSearch([part], np.arange(2, dtype=np.int32)).best_passages(np.array([0, 0, 1], dtype=np.float32), [1, 0])
        [1, 0]
        """
        queries, numbers = self._checked(query[None]), np.array(docs, dtype=np.int64)
        _numbered("documents", numbers, len(self))
        pair, row = self._rows_of(numbers)
        counts = np.bincount(pair, minlength=len(numbers))
        if not counts.all():
            raise NotFoundError(f"document {docs[int(counts.argmin())]:,} has no passages in this channel")
        if len(row) == len(numbers):
            return [0] * len(row)
        scores = self._dots(queries, np.zeros(len(row), dtype=np.int64), row).astype(np.float32)
        return [int(own.argmax()) for own in np.split(scores, np.cumsum(counts)[:-1])] if len(numbers) else []

    @cached_property
    def _single(self) -> bool:
        """Whether every document has exactly one row."""
        return len(self) == int(self._row_bases[-1]) and bool((np.diff(self._starts) == 1).all())

    @cached_property
    def _owner(self) -> I32:
        """The document of every row; empty where they have the same numbers."""
        if self._single:
            return np.empty(0, dtype=np.int32)
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self._starts))

    @cached_property
    def _held(self) -> tuple[I32, I64]:
        """The documents that have rows, and for every row the number of its document among these."""
        counts = np.diff(self._starts)
        docs = np.flatnonzero(counts)
        return docs.astype(np.int32), np.repeat(np.arange(len(docs)), counts[docs])

    @cached_property
    def _screen(self) -> CandidateScreen:
        return CandidateScreen(self.parts, self._owner)

    @cached_property
    def _means(self) -> tuple[CandidateScreen, I64]:
        """The mean vector of every document that has one, and which documents these are."""
        return CandidateScreen([_means(part) for part in self.parts], np.empty(0, np.int32)), np.flatnonzero(
            np.diff(self._starts)
        )

    def _best(self, queries: F32, k: int, pool: PassagePooling, mask: Bools) -> tuple[I64, I32, F32]:
        """The same as `best` for a few queries."""
        if not self._screen.is_worth(len(queries)):
            return self._best_of_all(queries, k, pool, mask)
        query, doc, row = self._candidates(queries, k, pool, mask)
        if len(queries) == 1 and self._single:
            scores = self._dots(queries, query, row).astype(np.float32)
            ranked = np.lexsort((self.order[doc], -scores))[:k]
            return np.array([0, len(ranked)], dtype=np.int64), doc[ranked].astype(np.int32), scores[ranked]
        number = np.cumsum((np.diff(query, prepend=-1) != 0) | (np.diff(doc, prepend=-1) != 0)) - 1  # of each pair
        first = np.flatnonzero(np.diff(number, prepend=-1))
        scores = pooled(self._dots(queries, query, row), number, pool)
        query, doc = query[first], doc[first]
        ranked = np.lexsort((self.order[doc], -scores, query))
        query = query[ranked]
        counts = np.bincount(query, minlength=len(queries))
        starts = np.cumsum(counts) - counts
        ranked = ranked[np.arange(len(query)) - starts[query] < k]
        return offsets_of(np.minimum(counts, k)), doc[ranked].astype(np.int32), scores[ranked]

    def _best_of_all(self, queries: F32, k: int, pool: PassagePooling, mask: Bools) -> tuple[I64, I32, F32]:
        """The same with the exact scores of all rows, which answer everything else about a query in its context."""
        docs, number = self._held
        rows = read_once(self, "scores", [query.tobytes() for query in queries], self._scored)
        scores = np.stack([pooled(row, number, pool) for row in rows])
        if len(mask):
            docs, scores = docs[mask[docs]], scores[:, mask[docs]]
        order = np.tile(self.order[docs], len(queries))
        offsets, chosen = best(np.arange(len(queries) + 1) * len(docs), scores.ravel(), order, k)
        return offsets, docs[chosen % max(len(docs), 1)], scores.ravel()[chosen]

    def _scored(self, asked: list[bytes]) -> list[F64]:
        """The exact scores of all rows, for each vector that is asked about."""
        queries = np.frombuffer(b"".join(asked), dtype=np.float32).reshape(len(asked), -1)
        found = []
        for number in range(len(queries)):
            parts = [self._screen.exact_part(part) for part in self.parts]
            every = [exact_scores(part, queries, np.full(part.rows, number), np.arange(part.rows)) for part in parts]
            found.append(np.concatenate(every))
        return found

    def _candidates(self, queries: F32, k: int, pool: PassagePooling, mask: Bools) -> tuple[I64, I64, I64]:
        """Query, document and row of all that may count among the best, by query and document."""
        if not len(queries) or not self._row_bases[-1]:
            return (np.empty(0, dtype=np.int64),) * 3
        zero = (queries == 0).all(axis=1)
        if zero.any():  # all documents have the same score: not as candidates, they would be too many
            return self._with_zeros(queries, zero, k, pool, mask)
        if pool.passages == 1 or self._single:
            query, row = self._screen.rows(queries, k, self._allowed_rows(mask))
            doc = self._owner[row].astype(np.int64) if len(self._owner) else row
            if len(queries) == 1 and self._single:  # the order of documents does not matter
                return query, doc, row
            sorting = np.lexsort((row, query))
            return query[sorting], doc[sorting], row[sorting]
        if pool.passages is None:
            screen, docs = self._means
            query, at = screen.rows(queries, k, mask[docs] if len(mask) else mask)
            return self._whole(query, docs[at])
        # A mean is no higher than the best: of the k best by their best passage, the lowest mean is a floor for passages.
        offsets, found, _ = self._best(queries, k, PassagePooling.BEST, mask)
        asked = np.repeat(np.arange(len(queries)), np.diff(offsets))
        floor = np.full(len(queries), np.inf)
        np.minimum.at(floor, asked, self.pair_scores(queries, asked, found, pool).astype(np.float64))
        floor = np.nextafter(floor.astype(np.float32), np.float32(-np.inf)).astype(np.float64)  # scores are rounded
        query, row = self._screen.rows(queries, k, self._allowed_rows(mask), floor)
        return self._whole(query, self._owner[row].astype(np.int64))

    def _with_zeros(self, queries: F32, zero: Bools, k: int, pool: PassagePooling, mask: Bools) -> tuple[I64, I64, I64]:
        """Candidates where some queries are all zeros, for which the first documents in the order are the best."""
        held = np.diff(self._starts) > 0
        docs = np.flatnonzero(held & mask if len(mask) else held)
        docs = docs[np.argsort(self.order[docs])[:k]]
        query, doc, row = self._candidates(queries[~zero], k, pool, mask)
        query = np.flatnonzero(~zero)[query]
        empty = np.flatnonzero(zero)
        more_query, more_doc, more_row = self._whole(np.repeat(empty, len(docs)), np.tile(docs, len(empty)))
        query, doc, row = (np.concatenate(both) for both in ((query, more_query), (doc, more_doc), (row, more_row)))
        sorting = np.lexsort((row, query))
        return query[sorting], doc[sorting], row[sorting]

    def _whole(self, query: I64, doc: I64) -> tuple[I64, I64, I64]:
        """All rows of documents, each pair once."""
        pairs = np.unique(query * len(self) + doc)
        query, doc = np.divmod(pairs, len(self))
        pair, row = self._rows_of(doc)
        return query[pair], doc[pair], row

    def _rows_of(self, doc: I64) -> tuple[I64, I64]:
        """The rows of documents, each with the place of its document in the list."""
        first, counts = self._starts[doc], self._starts[doc + 1] - self._starts[doc]
        pair = np.repeat(np.arange(len(doc)), counts)
        return pair, np.arange(len(pair)) + np.repeat(first - (np.cumsum(counts) - counts), counts)

    def _dots(self, queries: F32, query: I64, row: I64) -> F64:
        """The exact score of every pair of a query and a row."""
        known = known_row(self, "scores", queries[0].tobytes()) if len(queries) == 1 else None
        if known is not None:
            return np.asarray(known[row])
        if len(self.parts) == 1:
            return exact_scores(self._screen.exact_part(self.parts[0]), queries, query, row)
        scores = np.empty(len(row), dtype=np.float64)
        at = np.searchsorted(self._row_bases, row, side="right") - 1
        for number in np.unique(at).tolist():
            chosen = at == number
            part = self._screen.exact_part(self.parts[number])
            scores[chosen] = exact_scores(part, queries, query[chosen], row[chosen] - self._row_bases[number])
        return scores

    def _allowed_rows(self, mask: Bools) -> Bools:
        return mask if self._single or not len(mask) else np.repeat(mask, np.diff(self._starts))

    def _checked(self, queries: F32) -> F32:
        """Queries, if they are valid."""
        if queries.ndim != 2:
            raise ConfigError(f"queries must be a table, one row a query, got the shape {queries.shape}")
        if self.parts and queries.shape[1] != self.parts[0].dimension:
            raise ConfigError(
                f"a query has {queries.shape[1]:,} numbers, the vectors of the index {self.parts[0].dimension:,}; "
                "use the model that the index was built with"
            )
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        wrong = ~np.isfinite(queries).all(axis=1) | (np.abs(queries) > LONGEST / 256).any(axis=1)
        if wrong.any():
            raise DataError(f"query {int(wrong.argmax()):,} holds nan, infinity or numbers too large to search with")
        return queries


def _numbered(what: str, numbers: I64, count: int) -> None:
    """`NotFoundError` for numbers that nothing has."""
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < count):
        raise NotFoundError(f"{what} are numbered from 0 to {count - 1:,}, got {numbers.min():,} to {numbers.max():,}")


def pooled(scores: F64, group: I64, pool: PassagePooling) -> F32:
    """One score for each group of passages; groups are numbered from 0 and ascend.

    Passages are added up from the best to the worst, so that the sum does not depend on their positions.

    >>> pooled(np.array([1.0, 4.0, 2.0]), np.array([0, 1, 1]), PassagePooling.MEAN).tolist()
    [1.0, 3.0]
    """
    groups = int(group[-1]) + 1 if len(group) else 0
    if groups == len(scores):
        return scores.astype(np.float32)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    if pool.passages == 1:
        return np.maximum.reduceat(scores, first).astype(np.float32)
    sorting = np.lexsort((-scores, group))
    if pool.passages is not None:
        sorting = sorting[np.arange(len(group)) - first[group] < pool.passages]
    counts = np.bincount(group[sorting], minlength=groups)
    return (np.bincount(group[sorting], weights=scores[sorting], minlength=groups) / counts).astype(np.float32)


_BLOCK = 1 << 20  # numbers that are added up at once


def document_means(part: VectorPart) -> VectorPart:
    """A part with one row for every document that has any, the mean of its rows.

    >>> part = VectorPart.of(np.array([[1, 0], [0, 1], [5, 5]], dtype=np.float32), starts=[0, 2, 2, 3])
    >>> document_means(part).matrix.tolist()
    [[0.5, 0.5], [5.0, 5.0]]
    """
    counts = np.diff(part.starts)
    docs = np.flatnonzero(counts)
    first, counts = part.starts[docs], counts[docs]
    matrix = np.empty((len(docs), part.dimension), dtype=np.float32)
    norms = np.empty(len(docs), dtype=np.float32)
    begin = 0
    while begin < len(docs):
        room = first[begin] + max(_BLOCK // part.dimension, int(counts[begin]))
        end = int(np.searchsorted(first + counts, room, side="right"))
        rows = part.block(int(first[begin]), int(first[end - 1] + counts[end - 1])).astype(np.float64)
        means = np.add.reduceat(rows, first[begin:end] - first[begin]) / counts[begin:end, None]
        matrix[begin:end] = means
        norms[begin:end] = np.sqrt((means**2).sum(axis=1)) * (1 + 2.0**-20)
        begin = end
    # Where rows cancel out, what is lost in their sum is small compared with the rows, not with the mean.
    norms += np.maximum.reduceat(part.norms, first) * np.float32(2.0**-16) if len(docs) else 0
    starts = np.arange(len(docs) + 1, dtype=np.int64)
    spans = np.zeros((len(docs), 2), dtype=np.int32)
    return VectorPart(
        VectorStorage.FP32, read_only(starts), read_only(spans), read_only(matrix), np.empty(0, np.float32), read_only(norms)
    )


_means = made_once(document_means)
