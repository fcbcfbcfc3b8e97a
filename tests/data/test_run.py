"""Runs as columns, and the one tie rule."""

import numpy as np
import pytest

from lexfuse.data.ids import Ids
from lexfuse.data.run import Hit, Run
from lexfuse.errors import DataError

ZERO = np.zeros(2, np.int32)


def test_ties_go_by_document_id_as_text():
    run = Run.of("x", {"q": {"10": 1.0, "9": 1.0, "é": 1.0, "Z": 1.0, "best": 2.0}})
    assert [hit.doc for hit in run.hits("q")] == ["best", "10", "9", "Z", "é"]
    assert [hit.rank for hit in run.hits("q")] == [1, 2, 3, 4, 5]


def test_zero_and_minus_zero_tie():
    assert [hit.doc for hit in Run.of("x", {"q": {"b": 0.0, "a": -0.0}}).hits("q")] == ["a", "b"]


def test_negative_and_infinite_scores_are_ordered():
    scores = {"a": -1.5, "b": float("-inf"), "c": 1e-30, "d": -2.5, "e": float("inf"), "f": -1e-30}
    assert [hit.doc for hit in Run.of("x", {"q": scores}).hits("q")] == ["e", "c", "f", "a", "d", "b"]


def test_nan_is_refused_and_named():
    with pytest.raises(DataError, match=r"run 'x', query 'q': document 'b' has the score NaN"):
        Run.of("x", {"q": {"a": 1.0, "b": float("nan")}})


def test_a_document_ranked_twice_is_refused_and_named():
    with pytest.raises(DataError, match="query 'q': document 'b' is ranked twice"):
        Run.from_arrays("x", Ids("q"), Ids("ab"), ZERO, np.array([1, 1], np.int32), np.array([1, 2], np.float32))


def test_parts_follow_their_hits():
    parts = {"bm25": np.array([3, np.nan], np.float32)}
    run = Run.from_arrays("x", Ids("q"), Ids("ab"), ZERO, np.array([0, 1], np.int32), np.array([1, 2], np.float32), parts)
    assert run.hits("q") == [Hit("b", 1, 2.0), Hit("a", 2, 1.0, {"bm25": 3.0})]


def test_queries_without_hits_have_empty_rankings():
    run = Run.of("x", {"q1": {}, "q2": {"a": 1.0}, "q3": {}})
    assert run.as_dict() == {"q1": {}, "q2": {"a": 1.0}, "q3": {}}
    assert len(run) == 1
    assert len(Run.of("x", {})) == 0


def test_order_of_the_input_does_not_matter():
    scores = {"a": 1.0, "b": 2.0, "c": 1.0, "d": -1.0}
    backwards = dict(reversed(scores.items()))
    assert Run.of("x", {"q": scores}).hits("q") == Run.of("x", {"q": backwards}).hits("q")


def test_a_query_that_is_a_document_does_not_find_itself():
    scores = {
        "a": {"a": 9.0, "b": 3.0, "c": 2.0},
        "x": {"a": 5.0, "b": 4.0, "c": 3.0},
        "c": {"b": 2.0, "a": 1.0, "c": 0.5},
        "b": {},
    }
    run = Run.of("bm25", scores).bounded(0.0)
    by_hand = {query: dict([(doc, score) for doc, score in docs.items() if doc != query][:2]) for query, docs in scores.items()}
    found = run.without_self(2)
    assert found.as_dict() == by_hand
    assert found.low.tolist() == [0.0] * 4
