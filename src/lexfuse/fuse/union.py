"""The union set: every document that some source ranks for a query, with what each source says about it (BRUCH 3.1).

A source that does not rank a document may still know its score. What is done about that is decided once, here:

`Missing.RESCORE`  the source is asked for the true score; the default. Rankings read from files have nobody to ask: then
                   `MIN` takes its place, and `Union.asked` tells so.
`Missing.MIN`      the document gets the lowest score of the source's list, or the rank after its last.
`Missing.ZERO`     the source says nothing about the document: it adds 0.

Statistics of scores (lowest, highest, mean, spread) are taken over true scores only, never over imputed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I32, I64, Bools, Scalar, offsets_of
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.fuse.aligning import aligned, best, queries_at_once, ranked
from lexfuse.index.threads import shared_out
from lexfuse.retrieve.levels import Levels
from lexfuse.retrieve.retriever import Bounds


class Missing(StrEnum):
    """What a document counts in a source that does not rank it.

    >>> Missing("rescore")
    <Missing.RESCORE: 'rescore'>
    """

    RESCORE = "rescore"
    MIN = "min"
    ZERO = "zero"


class Source(Protocol):
    """Who can be asked for true scores: any retriever.

    >>> from lexfuse.retrieve.bm25 import BM25
    >>> hasattr(BM25, "score")
    True
    """

    @property
    def bounds(self) -> Bounds:
        """Infimum and supremum of its scores."""

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The true score of every pair in a run; NaN for one that it cannot score."""


@dataclass(frozen=True, eq=False)
class Union:
    """The candidates of every query (CSR) and a table of one row a source: scores, and places in the source's own list.

    >>> union = union_of([Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0}})])
    >>> union.doc_names(), union.scores.tolist(), union.places.tolist()
    (['x', 'y'], [[2.0, 1.0], [nan, 9.0]], [[1, 2], [0, 1]])
    """

    names: tuple[str, ...]
    queries: Ids
    docs: Ids
    offsets: I64
    doc: I32
    scores: F64  # NaN where the source does not know
    places: I32  # from 1; 0 where the source's list does not hold the document
    bounds: tuple[Bounds, ...]
    asked: tuple[bool, ...]  # whether a source was asked for the scores that it did not list
    levels: tuple[Callable[[], Levels], ...]  # the distribution of each source's scores, which few fusions ask for
    guests: frozenset[int] = frozenset()  # candidates that no source lists, looked at for an explanation: nothing depends on them

    def __len__(self) -> int:
        """How many candidates there are, over all queries."""
        return len(self.doc)

    @cached_property
    def known(self) -> Bools:
        """Where scores are true ones."""
        return ~np.isnan(self.scores)

    def basis(self, row: F64) -> F64:
        """The values of one source that statistics are taken over: NaN for guests."""
        if not self.guests:
            return row
        basis = row.copy()
        basis[sorted(self.guests)] = np.nan
        return basis

    @cached_property
    def order(self) -> I32:
        """The place of every candidate's id among all ids, for ties."""
        return self.docs.order[self.doc]

    @cached_property
    def query(self) -> I64:
        """The query of every candidate."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def ranks(self) -> I32:
        """The rank of every candidate by each source's true scores within the union; 0 where it knows none."""
        return np.stack(
            [
                ranked(self.offsets, row, known, places > 0, self.order) if (known & (places == 0)).any() else places
                for row, known, places in zip(self.scores, self.known, self.places, strict=True)
            ]
        )

    @cached_property
    def sizes(self) -> I64:
        """For each source and query, how many candidates it knows the score of, guests not counted."""
        known = np.stack([~np.isnan(self.basis(row)) for row in self.scores]) if self.guests else self.known
        return self.per_query(np.add, known.astype(np.float64)).astype(np.int64)

    def per_query(self, operation: np.ufunc, table: F64) -> F64:
        """A reduction over the candidates of each query, of one row or of several; 0 for a query without any."""
        found = np.zeros((*table.shape[:-1], len(self.offsets) - 1))
        some = np.diff(self.offsets) > 0
        if some.any():
            found[..., some] = operation.reduceat(table, self.offsets[:-1][some], axis=-1)
        return found

    def per_candidate(self, table: NDArray[Scalar]) -> NDArray[Scalar]:
        """What holds for each query (or source and query) beside every candidate of the query."""
        return np.repeat(table, np.diff(self.offsets), axis=-1)

    def doc_names(self) -> list[str]:
        """The names of all candidates, query after query."""
        return [self.docs[at] for at in self.doc.tolist()]

    def ranked_by(self, name: str, fused: F64, k: int) -> Run:
        """The best k candidates of every query by fused scores, each with the raw scores of all sources."""
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        offsets = offsets_of(np.minimum(np.diff(self.offsets), k))
        doc, score = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1], dtype=np.float32)
        parts = {source: np.empty(offsets[-1], dtype=np.float32) for source in self.names}

        def rank(block: Union, queries: slice, candidates: slice) -> None:
            single = fused[candidates].astype(np.float32)
            _, chosen = best(block.offsets, single, block.order, k)
            to = slice(int(offsets[queries.start]), int(offsets[queries.stop]))
            for column, row in zip((doc, score, *parts.values()), (block.doc, single, *block.scores), strict=True):
                row.astype(column.dtype, copy=False).take(chosen, out=column[to], mode="clip")

        self.in_blocks(rank)
        return Run(name, self.queries, self.docs, offsets, doc, score, parts)

    def in_blocks(self, work: Callable[[Union, slice, slice], None]) -> None:
        """Call `work` with a few queries at a time as a union set, and which queries and candidates they are; on all cores.

        What is computed for a block stays in the processor's cache, which makes fusing large runs several times faster.
        """
        blocks = self._blocks

        def some(first: int, last: int) -> None:
            for block in blocks[first:last]:
                work(*block)

        shared_out(some, len(blocks), 1)

    @cached_property
    def _blocks(self) -> list[tuple[Union, slice, slice]]:
        queries = len(self.offsets) - 1
        step = queries_at_once(queries, self.scores.size)
        if step >= queries or self.guests:
            return [(self, slice(0, queries), slice(0, len(self)))]
        return [self._between(first, min(first + step, queries)) for first in range(0, queries, step)]

    def _between(self, first: int, last: int) -> tuple[Union, slice, slice]:
        here = slice(int(self.offsets[first]), int(self.offsets[last]))
        block = replace(
            self,
            queries=Ids(self.queries[first:last]),
            offsets=self.offsets[first : last + 1] - self.offsets[first],
            doc=self.doc[here],
            scores=self.scores[:, here],
            places=self.places[:, here],
        )
        return block, slice(first, last), here

    def only(self, sources: Sequence[int]) -> Union:
        """The union set of some of the sources: what none of them lists is no candidate any more.

        >>> union = union_of([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {"y": 9.0}}), Run.of("c", {"q": {"z": 1.0}})])
        >>> union.only([0, 2]).names, union.only([0, 2]).doc_names()
        (('a', 'c'), ['x', 'z'])
        """
        rows = list(sources)
        kept = (self.places[rows] > 0).any(axis=0)
        return replace(
            self,
            names=tuple(self.names[row] for row in rows),
            offsets=offsets_of(np.bincount(self.query[kept], minlength=len(self.offsets) - 1)),
            doc=self.doc[kept],
            scores=self.scores[rows][:, kept],
            places=self.places[rows][:, kept],
            bounds=tuple(self.bounds[row] for row in rows),
            asked=tuple(self.asked[row] for row in rows),
            levels=tuple(self.levels[row] for row in rows),
        )

    def of_query(self, row: int) -> Union:
        """The union set of one query alone.

        >>> union_of([Run.of("a", {"q1": {"x": 2.0}, "q2": {"y": 1.0, "z": 0.5}})]).of_query(1).doc_names()
        ['y', 'z']
        """
        return self._between(row, row + 1)[0]

    def rescored(self, sources: Sequence[Source], queries: Queries) -> Union:
        """The same with the true scores that sources know but did not list, and their bounds."""
        scores = self.scores.copy()
        for row, source in enumerate(sources):
            lacking = np.flatnonzero(self.places[row] == 0)
            if len(lacking):
                scores[row, lacking] = source.score(queries, self._pairs(lacking))
                if np.isinf(scores[row, lacking]).any():
                    raise DataError(f"source {self.names[row]!r} gave a score that is not finite; NaN means that it has none")
        return replace(self, scores=scores, bounds=tuple(source.bounds for source in sources), asked=(True,) * len(self.names))

    def _pairs(self, chosen: I64) -> Run:
        counts = np.bincount(self.query[chosen], minlength=len(self.offsets) - 1)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        return Run("missing", self.queries, self.docs, offsets, self.doc[chosen], np.zeros(len(chosen), dtype=np.float32))


def union_of(runs: Sequence[Run], sources: Sequence[Source] | None = None, queries: Queries | None = None) -> Union:
    """The union set of rankings; with sources (and the queries), scores that they did not list are asked for.

    A query that a run does not have is an empty ranking there; runs that share no query at all are a `DataError`. The
    distribution of a source's scores is that of all scores in its run (`union_from` takes those that an index keeps).

    >>> union_of([Run.of("a", {"q1": {"x": 1.0}}), Run.of("b", {"q2": {"x": 1.0}})])
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: runs 'a' and 'b' have no query in common; give rankings of the same queries
    """
    if not runs:
        raise ConfigError("nothing to fuse; give at least one ranking")
    names = [run.name for run in runs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"two rankings are called {twice[0]!r}; sources need names of their own")
    if sources is not None and len(sources) != len(runs):
        raise ConfigError(f"{len(runs)} rankings need as many sources to ask, got {len(sources)}")
    if sources is not None and queries is None:
        raise ConfigError("sources can be asked only with the queries; give both or neither")
    all_queries, docs = _queries(runs), _docs(runs)
    tables = [_translated(run, all_queries, docs) for run in runs]
    offsets, doc, scores, places = aligned(
        [starts for starts, _, _ in tables], [doc for _, doc, _ in tables], [score for _, _, score in tables], len(docs)
    )
    bounds = tuple(_observed(run) for run in runs)
    levels = tuple(cache(partial(Levels.of, run.score)) for run in runs)
    union = Union(tuple(names), all_queries, docs, offsets, doc, scores, places, bounds, (False,) * len(runs), levels)
    return union.rescored(sources, queries) if sources is not None and queries is not None else union


def _queries(runs: Sequence[Run]) -> Ids:
    first = runs[0].queries
    if all(run.queries is first for run in runs):
        return first
    for run in runs[1:]:
        if len(first) and len(run.queries) and not any(query in first for query in run.queries):
            raise DataError(f"runs {runs[0].name!r} and {run.name!r} have no query in common; give rankings of the same queries")
    return Ids(dict.fromkeys(query for run in runs for query in run.queries))


def _docs(runs: Sequence[Run]) -> Ids:
    first = runs[0].docs
    if all(run.docs is first for run in runs):
        return first
    return Ids(dict.fromkeys(doc for run in runs for doc in run.docs))


def _translated(run: Run, queries: Ids, docs: Ids) -> tuple[I64, I32, F32]:
    """Offsets over all queries, documents by their common numbers, and scores; in the order of the common queries."""
    if not np.isfinite(run.score).all():
        at = int(np.flatnonzero(~np.isfinite(run.score))[0])
        raise DataError(
            f"run {run.name!r}: document {run.docs[int(run.doc[at])]!r} has the score {run.score[at]}; scores must be finite"
        )
    doc = run.doc if run.docs is docs else docs.ordinals(run.docs.names)[run.doc]
    if run.queries is queries:
        return run.offsets, doc, run.score
    rows = run.queries.ordinals(queries.names)
    lengths = np.where(rows >= 0, np.diff(run.offsets)[rows], 0) if len(run.queries) else np.zeros(len(queries), dtype=np.int64)
    begins = run.offsets[:-1][rows] if len(run.queries) else lengths
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    taken = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - begins, lengths)
    return offsets, doc[taken], run.score[taken]


def _observed(run: Run) -> Bounds:
    """Bounds where nobody tells them: 0, or the lowest score of the whole run if some are negative."""
    return Bounds(min(0.0, float(run.score.min(initial=0.0))))
