"""Rankings of several groups of queries as one run, queries in their own order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import F64, I64, offsets_of
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run


def joined_runs(name: str, queries: Queries, rows: Sequence[I64], runs: Sequence[Run]) -> Run:
    """One run of several over the documents of one snapshot; `rows` tell where the queries of each stand among all.

    >>> from lexfuse.data.ids import Ids
    >>> from lexfuse.data.queries import Query
    >>> def one(query, doc):
    ...     return Run("x", Ids([query]), docs, np.array([0, 1]), np.array([doc], np.int32), np.ones(1, np.float32))
    >>> docs, queries = Ids("ab"), Queries.of([Query("p", "…"), Query("q", "…")])
    >>> joined_runs("x", queries, [np.array([1]), np.array([0])], [one("q", 0), one("p", 1)]).as_dict()
    {'p': {'b': 1.0}, 'q': {'a': 1.0}}
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
    """The infimum of every query; -inf for those of a run that states none, None where no run states any."""
    if all(run.low is None for run in runs):
        return None
    low = np.full(queries, -np.inf)
    for row, run in zip(rows, runs, strict=True):
        if run.low is not None:
            low[row] = run.low
    return low
