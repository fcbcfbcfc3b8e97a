"""Rankings of several sources as one union set: common queries and documents, aligned scores, and the lowest possible scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np

from lexfuse.channels.distribution import ScoreLevels
from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.fusion.union import RankedSource, Union
from lexfuse.kernels.fusion import align


def union_of(runs: Sequence[Run], sources: Sequence[RankedSource] | None = None, queries: Queries | None = None) -> Union:
    """The union set of rankings; with sources and queries, unlisted scores are computed.

    A query that a run does not have is an empty ranking; runs without a common query are a `DataError`. The distribution of a
    source's scores is that of its run (`retrieve_union` uses those stored with an index).

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
        raise ConfigError(f"two rankings are called {twice[0]!r}; sources need different names")
    if sources is not None and len(sources) != len(runs):
        raise ConfigError(f"{len(runs)} rankings need as many sources to ask, got {len(sources)}")
    if sources is not None and queries is None:
        raise ConfigError("sources can be asked only with the queries; give both or neither")
    all_queries, docs = _queries(runs), _docs(runs)
    tables = [_translated(run, all_queries, docs) for run in runs]
    offsets, doc, scores, places = align(
        [starts for starts, _, _ in tables], [doc for _, doc, _ in tables], [score for _, _, score in tables], len(docs)
    )
    low = np.stack([_lows(run, all_queries, sources[at] if sources else None) for at, run in enumerate(runs)])
    stated = tuple(
        run.low is not None or sources is not None or not len(run) for run in runs
    )  # without scores nothing is assumed
    levels = tuple(cache(partial(ScoreLevels.of, run.score)) for run in runs)
    union = Union(tuple(names), all_queries, docs, offsets, doc, scores, places, low, stated, (False,) * len(runs), levels)
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
    """Offsets over all queries, documents by common numbers, and scores, in the order of the common queries."""
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


def _lows(run: Run, queries: Ids, source: RankedSource | None) -> F64:
    """The infimum of every query: stated by the run or the source, else 0, or the run's lowest score if negative."""
    if run.low is None:
        return np.full(len(queries), source.bounds.low if source is not None else min(0.0, float(run.score.min(initial=0.0))))
    if run.queries is queries:
        return run.low
    rows = run.queries.ordinals(queries.names)
    return np.where(rows >= 0, run.low[rows], 0.0) if len(run.queries) else np.zeros(len(queries))
