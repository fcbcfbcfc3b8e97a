"""Judged queries that a model in training is measured on, and the documents that may be ranked for them.

Only documents earlier than a query, where that is asked for, are ranked for it or are its hard negatives. The rule is that of
`lexfuse.search.temporal_filter`: a document must be dated before the query's day, and an undated one never qualifies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.data.arrays import I32, Bools, Days
from lexfuse.data.corpus import Corpus
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import DataError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.train.hyperparameters import DevMeasure

if TYPE_CHECKING:
    from torch import Tensor

MEASURES = " ".join(DevMeasure)
DEPTH = 1000


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
                "no document is dated before any of the queries, so none could be ranked; give the documents dates, or allow "
                "later documents"
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


@dataclass(frozen=True, slots=True, eq=False)
class DevQueries:
    """Queries with their judgements and the passages that are ranked for them; a document scores as its best passage.

    ``candidates`` are the passages that a cross-encoder scores for each query (-1 for padding). With ``dates``, only documents
    earlier than a query are ranked for it.

    >>> qrels = Qrels.of([("q", "d", 1)])
    >>> docs, owner = ("L'employeur.", "Le bail."), np.array([0, 1], np.int32)
    >>> judged = DevQueries(Ids(["q"]), ("Qui paie ?",), Ids(["d", "e"]), docs, owner, qrels)
    >>> judged.measured(np.array([[0.2, 0.9]], np.float32))["RR@100"]
    0.5
    """

    queries: Ids
    questions: tuple[str, ...]
    docs: Ids
    passages: tuple[str, ...]
    owner: I32  # the document of each passage
    qrels: Qrels
    candidates: I32 | None = None
    dates: QueryDates | None = None

    def __post_init__(self) -> None:
        """Refuse data that cannot be measured."""
        if not self.questions or not self.passages:
            raise DataError("there is nothing to evaluate on: no judged query, or no document")

    @property
    def most(self) -> int:
        """The maximum number of ranked documents per query."""
        return len(self.docs) if self.dates is None else self.dates.most

    def run(self, scores: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> Run:
        """The best documents of every query by the scores of their passages; -inf means not scored."""
        best = np.full((len(self.questions), len(self.docs)), -np.inf, dtype=np.float32)
        for row, found in zip(best, scores, strict=True):
            np.maximum.at(row, self.owner, found)
        if self.dates is not None:
            best[~self.dates.earlier] = -np.inf
        depth = min(DEPTH, len(self.docs))
        top = np.argpartition(-best, depth - 1, axis=1)[:, :depth].astype(np.int32)
        value = np.take_along_axis(best, top, axis=1)
        kept = np.isfinite(value)
        query = np.repeat(np.arange(len(self.questions), dtype=np.int32), depth).reshape(top.shape)
        return Run.from_arrays("model", self.queries, self.docs, query[kept], top[kept], value[kept])

    def measured(
        self, scores: Tensor | np.ndarray[tuple[int, int], np.dtype[np.float32]], measures: str = MEASURES
    ) -> dict[str, float]:
        """Means over the queries."""
        found = evaluate(self.qrels, self.run(np.asarray(scores)), measures)
        return {str(measure): float(value) for measure, value in found.means.items()}


def days_of(queries: Queries, names: Iterable[str]) -> Days:
    """The dates of some queries; a `DataError` names undated ones.

    >>> days_of(Queries.of([Query("q", "qui ?")]), ["q"])
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: 1 of 1 judged queries have no date, and documents must be earlier than the query: 'q'; give ...
    """
    names = list(names)
    found: Days = queries.date[queries.ids.ordinals(names)]
    if undated := [name for name, missing in zip(names, np.isnat(found).tolist(), strict=True) if missing]:
        raise DataError(
            f"{len(undated):,} of {len(names):,} judged queries have no date, and documents must be earlier than the query: "
            f"{first_ids(undated)}; give them one, or remove their judgements"
        )
    return found


def first_ids(names: Sequence[str]) -> str:
    """The first ids of a list, for a message.

    >>> first_ids(["a", "b", "c", "d"])
    "'a', 'b', 'c' …"
    """
    return f"{', '.join(map(repr, names[:3]))}{' …' if len(names) > 3 else ''}"


def earlier_hits(run: Run, queries: Queries, corpus: Corpus) -> Run:
    """A ranking without documents that are not earlier than the query.

    A query without a date keeps none; see `days_of`.

    >>> import datetime
    >>> corpus = Corpus.of(Document(str(year), date=datetime.date(year, 1, 1)) for year in (2019, 2021))
    >>> queries = Queries.of([Query("q", "consent", date=datetime.date(2020, 1, 1))])
    >>> earlier_hits(Run.of("bm25", {"q": {"2021": 2.0, "2019": 1.0}}), queries, corpus).as_dict()
    {'q': {'2019': 1.0}}
    """
    days = _with_none(queries.date)[queries.ids.ordinals(run.queries)]
    dates = _with_none(corpus.date)[corpus.ids.ordinals(run.docs)]
    return run.select(dates[run.doc] < days[run.query])


def _with_none(days: Days) -> Days:
    """Dates with NaT appended, for the index -1 of missing documents."""
    return np.append(days, np.datetime64("NaT", "D"))
