"""Only documents earlier than a query: later ones are neither ranked for it nor its hard negatives.

The rule of `lexfuse.search.temporal_filter`: a document must be dated before the query's day, and an undated one never qualifies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import Bools, Days
from lexfuse.data.corpus import Corpus
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import DataError

_SHOWN = 3  # ids in a message


@dataclass(frozen=True, slots=True, eq=False)
class QueryDates:
    """The dates of queries and of the documents that are ranked for them.

    >>> dates = QueryDates(np.array(["2020-05-01"], "datetime64[D]"), np.array(["2020-04-30", "2020-05-01", "NaT"],
    ...     "datetime64[D]"))
    >>> dates.earlier
    array([[ True, False, False]])
    """

    queries: Days
    docs: Days

    def __post_init__(self) -> None:
        """Refuse dates that leave nothing to rank."""
        if not self.most:
            raise DataError(
                "no document is dated before any of the queries, so none could be ranked; give the documents dates, or leave out "
                "that they must be earlier"
            )

    @property
    def earlier(self) -> Bools:
        """Whether a document (column) is earlier than a query (row)."""
        return self.docs[None, :] < self.queries[:, None]  # never true for NaT

    @property
    def most(self) -> int:
        """The number of documents before the latest query, the maximum of all queries."""
        known = self.queries[~np.isnat(self.queries)]
        return int((self.docs < known.max()).sum()) if len(known) else 0


def days_of(queries: Queries, names: Iterable[str]) -> Days:
    """The dates of some queries; a `DataError` names undated ones.

    >>> from lexfuse.data.queries import Query
    >>> days_of(Queries.of([Query("q", "qui ?")]), ["q"])
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: 1 of 1 judged queries have no date, and documents must be earlier than the query: 'q'; give ...
    """
    names = list(names)
    found: Days = queries.date[queries.ids.ordinals(names)]
    if undated := [name for name, missing in zip(names, np.isnat(found).tolist(), strict=True) if missing]:
        shown = f"{', '.join(map(repr, undated[:_SHOWN]))}{' …' if len(undated) > _SHOWN else ''}"
        raise DataError(
            f"{len(undated):,} of {len(names):,} judged queries have no date, and documents must be earlier than the query: "
            f"{shown}; give them one, or remove their judgements"
        )
    return found


def earlier_hits(run: Run, queries: Queries, corpus: Corpus) -> Run:
    """A ranking without documents that are not earlier than the query.

    A query without a date keeps none; see `days_of`.

    >>> import datetime
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.data.queries import Query
    >>> corpus = Corpus.of(Document(str(year), date=datetime.date(year, 1, 1)) for year in (2019, 2021))
    >>> queries = Queries.of([Query("q", "consent", date=datetime.date(2020, 1, 1))])
    >>> earlier_hits(Run.of("bm25", {"q": {"2021": 2.0, "2019": 1.0}}), queries, corpus).as_dict()
    {'q': {'2019': 1.0}}
    """
    query = np.repeat(np.arange(len(run.queries), dtype=np.int32), np.diff(run.offsets))
    days = _with_none(queries.date)[queries.ids.ordinals(run.queries)]
    dates = _with_none(corpus.date)[corpus.ids.ordinals(run.docs)]
    kept = dates[run.doc] < days[query]
    return Run.from_arrays(run.name, run.queries, run.docs, query[kept], run.doc[kept], run.score[kept])


def _with_none(days: Days) -> Days:
    """Dates with NaT appended, for the index -1 of missing documents."""
    return np.append(days, np.datetime64("NaT", "D"))
