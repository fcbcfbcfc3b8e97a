"""The union set: every document that some source ranks for a query, with the scores of all sources (BRUCH 3.1).

A source that does not rank a document may still know its score. `Missing` decides:

`Missing.RESCORE`  the source computes the true score; the default. Rankings from files have no retriever: they use `MIN`, and
                   `Union.asked` says so.
`Missing.MIN`      the document gets the lowest score of the source's list, or the rank after its last.
`Missing.ZERO`     the source adds 0 for the document.

Statistics of scores (lowest, highest, mean, spread) include true scores only, never imputed ones.

The infimum of a source's scores (BRUCH eq. 4) is stated by its run per query, or by the source. Rankings from files state none
without `Run.bounded`: then 0 is assumed, or the lowest score of the run if that is negative, and a fusion that uses it warns
(`BoundWarning`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lexfuse.channels.distribution import ScoreLevels
from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.arrays import F32, F64, I32, I64, Bools, Scalar, offsets_of
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import BoundWarning, ConfigError, DataError
from lexfuse.kernels.fusion import best, queries_at_once, rank
from lexfuse.kernels.threads import run_on_cores


class Missing(StrEnum):
    """The score of a document in a source that does not rank it."""

    RESCORE = "rescore"
    MIN = "min"
    ZERO = "zero"


class RankedSource(Protocol):
    """Computes true scores: any retriever."""

    @property
    def bounds(self) -> ScoreBounds:
        """Infimum and supremum of its scores for any query; bounds stated by a run take precedence."""

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The true score of every pair in a run; NaN if it cannot score one."""


@dataclass(frozen=True, eq=False)
class Union:
    """The candidates of every query (CSR) and a table with one row per source: scores, and ranks in the source's list.

    >>> union = union_of([Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0}})])
    >>> union.doc_names(), union.scores.tolist(), union.places.tolist()
    (['x', 'y'], [[2.0, 1.0], [nan, 9.0]], [[1, 2], [0, 1]])
    """

    names: tuple[str, ...]
    queries: Ids
    docs: Ids
    offsets: I64
    doc: I32
    scores: F64  # NaN if unknown to the source
    places: I32  # from 1; 0 if the source does not list the document
    low: F64  # sources x queries: lowest possible score; -inf if unbounded
    stated: tuple[bool, ...]  # whether the run or its source states that bound; else it is assumed
    asked: tuple[bool, ...]  # whether a source computed the scores that it did not list
    levels: tuple[Callable[[], ScoreLevels], ...]  # the distribution of each source's scores, computed on demand
    guests: frozenset[int] = frozenset()  # unlisted candidates, added for explanations: nothing depends on them

    def __len__(self) -> int:
        """The number of candidates over all queries."""
        return len(self.doc)

    @cached_property
    def known(self) -> Bools:
        """Where scores are true ones."""
        return ~np.isnan(self.scores)

    def infimum(self, source: int) -> F64:
        """The lowest possible score of a source, for every query.

        `ConfigError` if it has none, `BoundWarning` if it is only assumed.
        """
        if not np.isfinite(self.low[source]).all():
            raise ConfigError(f"source {self.names[source]!r} has no lowest possible score; take min-max or z-score for it")
        if not self.stated[source]:
            warnings.warn(self.assumption(source), BoundWarning, stacklevel=2)
        low: F64 = self.low[source]
        return low

    def assumption(self, source: int) -> str:
        """The assumed lowest possible score of a source that does not state it, and how to state it."""
        name, low = self.names[source], float(self.low[source].min(initial=0.0))
        assumed = f"{low:g}, its lowest score," if low < 0 else f"{low:g}"
        return (
            f"the lowest possible score of {name!r} is not stated: {assumed} is assumed. Theoretical min-max (tm2c2) depends on "
            f"it: state it with --bound {name}=NUMBER, in Python with run.bounded(NUMBER); BM25 and SPLADE have 0, a cosine -1"
        )

    def basis(self, row: F64) -> F64:
        """The values of one source for statistics: NaN for guests."""
        if not self.guests:
            return row
        basis = row.copy()
        basis[sorted(self.guests)] = np.nan
        return basis

    @cached_property
    def order(self) -> I32:
        """The position of every candidate's id among all ids, for ties."""
        return self.docs.order[self.doc]

    @cached_property
    def query(self) -> I64:
        """The query of every candidate."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def ranks(self) -> I32:
        """The rank of every candidate by each source's true scores within the union; 0 if unknown."""
        return np.stack(
            [
                rank(self.offsets, row, known, places > 0, self.order) if (known & (places == 0)).any() else places
                for row, known, places in zip(self.scores, self.known, self.places, strict=True)
            ]
        )

    @cached_property
    def sizes(self) -> I64:
        """For each source and query, the number of candidates with a known score, without guests."""
        known = np.stack([~np.isnan(self.basis(row)) for row in self.scores]) if self.guests else self.known
        return self.per_query(np.add, known.astype(np.float64)).astype(np.int64)

    def per_query(self, operation: np.ufunc, table: F64) -> F64:
        """A reduction over the candidates of each query, of one or several rows; 0 for a query without candidates."""
        found = np.zeros((*table.shape[:-1], len(self.offsets) - 1))
        some = np.diff(self.offsets) > 0
        if some.any():
            found[..., some] = operation.reduceat(table, self.offsets[:-1][some], axis=-1)
        return found

    def per_candidate(self, table: NDArray[Scalar]) -> NDArray[Scalar]:
        """Repeat a value per query (or source and query) for every candidate of the query."""
        return np.repeat(table, np.diff(self.offsets), axis=-1)

    def doc_names(self) -> list[str]:
        """The names of all candidates, query after query."""
        return [self.docs[at] for at in self.doc.tolist()]

    def ranked_by(self, name: str, fused: F64, k: int) -> Run:
        """The best k candidates of every query by fused scores, with the raw scores of all sources; -inf is excluded."""
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        if np.isneginf(fused).any():
            return self.select(fused > -np.inf).ranked_by(name, fused[fused > -np.inf], k)
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
        """Call `work` with a few queries at a time as a union set, and their queries and candidates; on all cores.

        The data of a block stays in the processor's cache, which makes fusing large runs several times faster.
        """
        blocks = self._blocks

        def some(first: int, last: int) -> None:
            for block in blocks[first:last]:
                work(*block)

        run_on_cores(some, len(blocks), 1)

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
            low=self.low[:, first:last],
        )
        return block, slice(first, last), here

    def only(self, sources: Sequence[int]) -> Union:
        """The union set of some of the sources, without candidates that none of them lists.

        >>> union = union_of([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {"y": 9.0}}), Run.of("c", {"q": {"z": 1.0}})])
        >>> union.only([0, 2]).names, union.only([0, 2]).doc_names()
        (('a', 'c'), ['x', 'z'])
        """
        rows = list(sources)
        some = self.select(self.listed_by(rows))
        return replace(
            some,
            names=tuple(self.names[row] for row in rows),
            scores=some.scores[rows],
            places=some.places[rows],
            low=self.low[rows],
            stated=tuple(self.stated[row] for row in rows),
            asked=tuple(self.asked[row] for row in rows),
            levels=tuple(self.levels[row] for row in rows),
        )

    def listed_by(self, sources: Sequence[int] | I64) -> Bools:
        """Which candidates one of these sources lists; guests count as listed."""
        listed = np.asarray((self.places[sources] > 0).any(axis=0))
        listed[sorted(self.guests)] = True
        return listed

    def select(self, kept: Bools) -> Union:
        """The union set of some of the candidates, with all sources.

        >>> union = union_of([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {"y": 9.0, "x": 1.0}})])
        >>> union.select(union.listed_by([0])).doc_names()
        ['x']
        """
        return replace(
            self,
            offsets=offsets_of(np.bincount(self.query[kept], minlength=len(self.offsets) - 1)),
            doc=self.doc[kept],
            scores=self.scores[:, kept],
            places=self.places[:, kept],
            guests=frozenset(int(kept[:at].sum()) for at in self.guests if kept[at]),
        )

    def of_query(self, row: int) -> Union:
        """The union set of one query.

        >>> union_of([Run.of("a", {"q1": {"x": 2.0}, "q2": {"y": 1.0, "z": 0.5}})]).of_query(1).doc_names()
        ['y', 'z']
        """
        return self._between(row, row + 1)[0]

    def rescored(self, sources: Sequence[RankedSource], queries: Queries) -> Union:
        """The union set with the true scores that sources know but did not list."""
        scores = self.scores.copy()
        for row, source in enumerate(sources):
            lacking = np.flatnonzero(self.places[row] == 0)
            if len(lacking):
                scores[row, lacking] = source.score(queries, self._pairs(lacking))
                if np.isinf(scores[row, lacking]).any():
                    raise DataError(f"source {self.names[row]!r} gave a score that is not finite; NaN means that it has none")
        return replace(self, scores=scores, asked=(True,) * len(self.names))

    def _pairs(self, chosen: I64) -> Run:
        counts = np.bincount(self.query[chosen], minlength=len(self.offsets) - 1)
        offsets = np.concatenate(([0], np.cumsum(counts)))
        return Run("missing", self.queries, self.docs, offsets, self.doc[chosen], np.zeros(len(chosen), dtype=np.float32))
