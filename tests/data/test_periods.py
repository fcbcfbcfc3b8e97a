"""Splits by period: which query is in which split, and what is refused."""

import datetime

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection
from lexfuse.data.periods import Periods, split_by_period
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.names import WithinTest
from lexfuse.errors import ConfigError, DataError

PERIODS = Periods(datetime.date(2012, 1, 1), datetime.date(2015, 1, 1))


def day(year):
    return datetime.date(year, 1, 1)


@pytest.fixture
def collection():
    documents = [Document("old", date=day(2000)), Document("new", date=day(2016)), Document("undated")]
    queries = [Query(f"q{year}", "…", date=day(year)) for year in (2010, 2012, 2015, 2018, 2020)]
    splits = {
        "train": Qrels.of([("q2010", "old", 1), ("q2012", "old", 1), ("q2015", "old", 2)]),
        "test": Qrels.of([("q2018", "old", 1), ("q2018", "new", 2), ("q2020", "new", 1)]),
    }
    return Collection(Corpus.of(documents), Queries.of(queries), splits)


def test_the_first_day_of_a_period_is_in_it():
    days = datetime.date(2011, 12, 31), day(2012), datetime.date(2014, 12, 31), day(2015)
    assert [PERIODS.split_of(one) for one in days] == ["train", "dev", "dev", "test"]


def test_judgements_of_all_splits_are_divided_again_with_their_grades(collection):
    found = split_by_period(collection, PERIODS)
    assert {split: qrels.as_dict() for split, qrels in found.qrels.items()} == {
        "train": {"q2010": {"old": 1}},
        "dev": {"q2012": {"old": 1}},
        "test": {"q2015": {"old": 2}, "q2018": {"old": 1, "new": 2}, "q2020": {"new": 1}},
    }
    assert found.corpus is collection.corpus


@pytest.mark.parametrize(
    ("rule", "test"),
    [
        (WithinTest.REMOVE_CITATIONS, {"q2015": {"old": 2}, "q2018": {"old": 1}}),
        (WithinTest.REMOVE_QUERIES, {"q2015": {"old": 2}}),
    ],
)
def test_citations_within_the_broader_test_period_are_removed(collection, rule, test):
    report = ReadReport()
    assert split_by_period(collection, PERIODS, rule, report).qrels["test"].as_dict() == test
    assert any(rule.value in line for line in report.lines())


def test_a_split_that_would_be_empty_is_refused(collection):
    with pytest.raises(DataError, match="train would be empty: the judged queries are of 2010-01-01 to 2020-01-01"):
        split_by_period(collection, Periods(day(2005), day(2015)))


def test_an_undated_query_is_refused():
    queries = Queries.of([Query("q", "…")])
    undated = Collection(Corpus.of([Document("d")]), queries, {"test": Qrels.of([("q", "d", 1)])})
    with pytest.raises(DataError, match="1 judged queries have no date, first 'q'"):
        split_by_period(undated, PERIODS)


def test_periods_in_the_wrong_order_and_a_collection_without_judgements_are_refused(collection):
    with pytest.raises(ConfigError, match="dev must begin before test"):
        Periods(day(2015), day(2012))
    with pytest.raises(ConfigError, match="nothing to split"):
        split_by_period(Collection(collection.corpus), PERIODS)
