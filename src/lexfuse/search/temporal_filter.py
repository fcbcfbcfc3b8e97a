"""Retrieval as of each query's own day: only documents dated before it are candidates.

A paragraph of a judgment can cite what was decided before it, never after (CJEU 3.1); so a fair experiment filters by the
date of the query. It is a true filter, one mask for all queries of a day, applied inside the retriever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.arrays import I64, Days
from lexfuse.data.corpus import days
from lexfuse.data.dates import parse_date
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run, join_runs
from lexfuse.errors import ConfigError, DataError
from lexfuse.search.candidates import retrieve_blocks
from lexfuse.storage.snapshot import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class SameDay:
    """Queries that share their candidates: those of one day, and the documents that were there before it."""

    rows: I64  # positions of the queries among all
    queries: Queries
    within: Mask | None


def document_dates(snapshot: Snapshot) -> Days:
    """The date of every document of a snapshot, NaT where it has none."""
    return days(parse_date(value) for value in snapshot.column("date"))


def queries_by_day(queries: Queries, dates: Days, within: Mask | None = None) -> Iterator[SameDay]:
    """The queries grouped by day, each group with the mask of the documents dated before it, earliest first.

    A document without a date is before no day. A query without one is a `DataError`.

    >>> import datetime
    >>> queries = Queries.of([Query("q", "", date=datetime.date(2020, 5, 1))])
    >>> next(queries_by_day(queries, np.array(["2020-04-30", "2020-05-01", "NaT"], "datetime64[D]"))).within
    array([ True, False, False])
    """
    undated = np.flatnonzero(np.isnat(queries.date))
    if len(undated):
        first = queries.ids[int(undated[0])]
        raise DataError(f"{len(undated):,} of {len(queries):,} queries have no date, first {first!r}; give them one")
    if within is not None and len(within) != len(dates):
        raise ConfigError(
            f"there are dates of {len(dates):,} documents and a mask of {len(within):,}; make both from one snapshot"
        )
    for day in np.unique(queries.date):
        rows = np.flatnonzero(queries.date == day)
        before = dates < day  # never true for NaT
        yield SameDay(rows, queries.select(rows.tolist()), before if within is None else before & within)


def retrieve_before(retriever: Retriever, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
    """The best k documents of every query among those dated before it, for any retriever.

    >>> import datetime
    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> queries = Queries.of([Query("q", "prêt", "fr", date=datetime.date(2020, 1, 1))])
    >>> retrieve_before(BM25(snapshot), queries, 10).as_dict()  # the articles have no date
    {'q': {}}
    """
    groups = list(queries_by_day(queries, document_dates(retriever.snapshot), within))
    runs = [retrieve_blocks(retriever, group.queries, k, within=group.within) for group in groups]
    if not runs:
        return retriever.retrieve(queries, k, within=within)
    return join_runs(runs[0].name, queries, [group.rows for group in groups], runs)
