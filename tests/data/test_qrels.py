"""Judgements as columns."""

import numpy as np
import pytest

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.errors import DataError, NotFoundError


def test_judgements_come_back_as_they_went_in():
    qrels = Qrels.of([("q2", "b", 2), ("q1", "a", 0), ("q2", "a", -1)])
    assert qrels.as_dict() == {"q2": {"b": 2, "a": -1}, "q1": {"a": 0}}
    assert qrels.queries.names == ("q2", "q1")
    assert len(qrels) == 3


def test_a_pair_judged_twice_is_named():
    with pytest.raises(DataError, match="query 'q' judges document 'd' twice"):
        Qrels.of([("q", "d", 1), ("q", "e", 1), ("q", "d", 1)])


def test_the_same_document_under_two_queries_is_no_repeat():
    assert len(Qrels.of([("q1", "d", 1), ("q2", "d", 1)])) == 2


def test_no_judgements_are_a_valid_table():
    empty = Qrels.of([])
    assert len(empty) == 0
    assert empty.as_dict() == {}


def test_queries_without_judgements_have_empty_rows():
    qrels = Qrels.from_arrays(Ids("abc"), Ids("x"), *np.array([[1], [0], [3]], np.int32))
    assert qrels.as_dict() == {"a": {}, "b": {"x": 3}, "c": {}}


def test_documents_share_the_ids_of_the_corpus():
    docs = Ids("xyz")
    assert Qrels.from_arrays(Ids("q"), docs, *np.array([[0], [2], [1]], np.int32)).docs is docs


def test_an_unknown_query_is_not_found():
    with pytest.raises(NotFoundError):
        Qrels.of([("q", "d", 1)]).judged("r")
