"""Candidates are what was there before the query's own day."""

import datetime

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError
from lexfuse.search.temporal_filter import document_dates, queries_by_day, retrieve_before
from lexfuse.storage.index_folder import IndexFolder


def day(year, month=1, date=1):
    return datetime.date(year, month, date)


@pytest.fixture
def snapshot(tmp_path):
    index = IndexFolder.create(tmp_path / "index")
    index.add([Document(f"d{year}", text="consent of the person", language="en", date=day(year)) for year in (2018, 2020, 2022)])
    index.add([Document("undated", text="consent consent", language="en")])
    return index.snapshot()


def found(run):
    return {query: [hit.doc for hit in run.hits(query)] for query in run.queries}


def test_only_earlier_documents_are_candidates(snapshot):
    queries = Queries.of(
        [
            Query("late", "consent", "en", day(2021)),
            Query("same", "consent", "en", day(2020)),  # the day itself is not before it
            Query("late too", "person", "en", day(2021)),
            Query("first", "consent", "en", day(2018)),
        ]
    )
    run = retrieve_before(BM25(snapshot), queries, 10)
    assert found(run) == {"late": ["d2018", "d2020"], "same": ["d2018"], "late too": ["d2018", "d2020"], "first": []}
    everything = BM25(snapshot).retrieve(queries, 10)
    assert run.hits("late")[0].score == next(hit.score for hit in everything.hits("late") if hit.doc == "d2018")
    assert BM25(snapshot).score(queries, run).tobytes() == run.score.tobytes()


def test_other_filters_hold_too(snapshot):
    within = np.array([id != "d2018" for id in snapshot.ids])
    queries = Queries.of([Query("q", "consent", "en", day(2021))])
    assert found(retrieve_before(BM25(snapshot), queries, 10, within=within)) == {"q": ["d2020"]}
    with pytest.raises(ConfigError, match="make both from one snapshot"):
        retrieve_before(BM25(snapshot), queries, 10, within=within[:2])


def test_k_counts_candidates_only(snapshot):
    queries = Queries.of([Query("q", "consent", "en", day(2023))])
    assert found(retrieve_before(BM25(snapshot), queries, 2)) == {"q": ["d2018", "d2020"]}


def test_a_query_without_a_date_is_an_error(snapshot):
    queries = Queries.of([Query("q", "consent", "en", day(2021)), Query("undated", "consent", "en")])
    with pytest.raises(DataError, match="1 of 2 queries have no date, first 'undated'"):
        retrieve_before(BM25(snapshot), queries, 10)


def test_no_queries(snapshot):
    assert len(retrieve_before(BM25(snapshot), Queries.of([]), 10)) == 0


def test_one_group_a_day(snapshot):
    queries = Queries.of([Query(str(at), "", "en", day(2019 + at % 2)) for at in range(6)])
    groups = list(queries_by_day(queries, document_dates(snapshot)))
    assert [group.rows.tolist() for group in groups] == [[0, 2, 4], [1, 3, 5]]
