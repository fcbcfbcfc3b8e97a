"""Splits by period: the date of a query decides whether it is in train, dev or test (CJEU, Tables 2 and 14)."""

from __future__ import annotations

import datetime
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.names import WithinTest
from lexfuse.errors import ConfigError, DataError

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class Periods:
    """The first day of dev and the first day of test; train is what comes before.

    >>> Periods(datetime.date(2017, 1, 1), datetime.date(2019, 1, 1)).split_of(datetime.date(2018, 12, 31))
    'dev'
    """

    dev_from: datetime.date
    test_from: datetime.date

    def __post_init__(self) -> None:
        """Refuse a dev period that does not come before the test."""
        if self.dev_from >= self.test_from:
            raise ConfigError(f"dev must begin before test, got dev from {self.dev_from} and test from {self.test_from}")

    def split_of(self, day: datetime.date) -> str:
        """The split of a query of this day."""
        return "test" if day >= self.test_from else "dev" if day >= self.dev_from else "train"


def split_by_period(
    collection: Collection, periods: Periods, within_test: WithinTest = WithinTest.KEEP, report: ReadReport | None = None
) -> Collection:
    """The same documents and queries, with the judgements of all splits divided again by the dates of their queries.

    >>> days = [datetime.date(year, 5, 1) for year in (2016, 2017, 2019)]
    >>> queries = Queries.of(Query(f"q{day.year}", "…", date=day) for day in days)
    >>> judged = {"all": Qrels.of((query, "a", 1) for query in queries.ids)}
    >>> collection = Collection(Corpus.of([Document("a")]), queries, judged)
    >>> found = split_by_period(collection, Periods(datetime.date(2017, 1, 1), datetime.date(2019, 1, 1)))
    >>> {split: list(qrels.queries) for split, qrels in found.qrels.items()}
    {'train': ['q2016'], 'dev': ['q2017'], 'test': ['q2019']}
    """
    queries, corpus = collection.queries, collection.corpus
    if queries is None or not collection.qrels:
        raise ConfigError("a collection without judged queries has nothing to split by period; leave out the periods")
    grades: dict[str, dict[str, int]] = {}
    for qrels in collection.qrels.values():
        for query, judged in qrels.as_dict().items():
            grades.setdefault(query, {}).update(judged)
    days = {query: queries.query(query).date for query in grades}
    if undated := [query for query, day in days.items() if day is None]:
        raise DataError(f"{len(undated):,} judged queries have no date, first {undated[0]!r}; a split by period needs one")
    split = {query: periods.split_of(day) for query, day in days.items() if day is not None}
    late = {corpus.ids[int(at)] for at in np.flatnonzero(corpus.date >= np.datetime64(periods.test_from))}
    asked = {query for query, name in split.items() if name == "test"}
    kept = labels_within_test({query: list(judged) for query, judged in grades.items()}, asked, late, within_test, report)
    triples: dict[str, list[tuple[str, str, int]]] = {name: [] for name in SPLITS}
    for query, docs in kept.items():
        triples[split[query]] += [(query, doc, grades[query][doc]) for doc in docs]
    if empty := [name for name, some in triples.items() if not some]:
        first, last = (str(pick(day for day in days.values() if day is not None)) for pick in (min, max))
        raise DataError(f"{empty[0]} would be empty: the judged queries are of {first} to {last}; choose other first days")
    return replace(collection, qrels={name: Qrels.of(some) for name, some in triples.items()})


def labels_within_test(
    cited: Mapping[str, Sequence[str]],
    test_queries: Container[str],
    test_documents: Container[str],
    rule: WithinTest,
    report: ReadReport | None = None,
) -> dict[str, list[str]]:
    """The labels of each query after applying the rule for documents of the test period that test queries cite.

    >>> labels_within_test({"q": ["old", "new"]}, {"q"}, {"new"}, WithinTest.REMOVE_CITATIONS)
    {'q': ['old']}
    """
    labels: dict[str, list[str]] = {}
    within = dropped = 0
    for query, targets in cited.items():
        inside = sum(target in test_documents for target in targets) if query in test_queries else 0
        within += inside
        kept = list(targets)
        if inside and rule is WithinTest.REMOVE_CITATIONS:
            kept = [target for target in targets if target not in test_documents]
        elif inside and rule is WithinTest.REMOVE_QUERIES:
            kept = []
        dropped += not kept
        if kept:
            labels[query] = kept
    if within and report is not None:
        report.note(
            f"rule {rule.value!r} applied to {within:,} citations between paragraphs of the test period; "
            f"it removes {dropped:,} test queries"
        )
    return labels
