"""Queries as columns."""

from datetime import date

import pytest

from lexfuse.data.queries import Queries, Query
from lexfuse.errors import DataError, NotFoundError

ROWS = [Query("q1", "préavis ?", "fr", date(2024, 2, 29), {"kind": "question"}), Query("q2", "x" * 100_000)]


def test_a_query_comes_back_as_it_went_in():
    queries = Queries.of(ROWS)
    assert list(queries) == ROWS
    assert queries.query("q2").date is None
    assert len(queries) == 2


def test_duplicates_and_unknown_ids_are_refused():
    with pytest.raises(DataError, match="'q1' is repeated"):
        Queries.of([ROWS[0], ROWS[0]])
    with pytest.raises(NotFoundError, match="'q9'"):
        Queries.of(ROWS).query("q9")


def test_select_keeps_the_order_asked_for():
    assert Queries.of(ROWS).select([1, 0]).ids.names == ("q2", "q1")
