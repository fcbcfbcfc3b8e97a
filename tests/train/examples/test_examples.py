"""Examples: texts once, answers known, columns that fit together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse.errors import DataError
from lexfuse.train.examples.examples import NOTHING, Examples
from lexfuse.train.examples.training_pair import TrainingPair

texts = st.sampled_from([f"t{at}" for at in range(6)])
rows = st.lists(st.tuples(texts, texts, st.lists(texts, max_size=3), st.sampled_from("ab")), max_size=12)


@given(rows)
def test_rows_come_back(some):
    assert list(Examples.of(some).rows()) == some


@given(rows)
def test_texts_are_kept_once_and_all_positives_are_known(some):
    examples = Examples.of(some)
    assert len(set(examples.queries)) == len(examples.queries)
    assert len(set(examples.passages)) == len(examples.passages)
    for place, query in enumerate(examples.queries):
        known = {examples.passages[passage] for passage in examples.answering(place)}
        assert known == {positive for asked, positive, _, _ in some if asked == query}


@given(rows, rows)
def test_joined_examples_know_the_answers_of_all(one, other):
    """A passage that answers a query in one part is known for the same query of the other."""
    joined = Examples.joined([Examples.of(one), Examples.of(other)])
    whole = Examples.of([*one, *other])
    assert list(joined.rows()) == list(whole.rows())
    assert [joined.answering(at).tolist() for at in range(len(joined.queries))] == [
        whole.answering(at).tolist() for at in range(len(whole.queries))
    ]


def test_joining_keeps_answers_that_are_no_positives():
    one = Examples.of([("q", "p", [], "a"), ("r", "s", [], "a")], {"q": ["s"]})
    joined = Examples.joined([one, Examples.of_pairs({"b": [TrainingPair("x", "y")]})])
    assert {joined.passages[passage] for passage in joined.answering(0)} == {"p", "s"}


def test_joining_keeps_scores_of_teachers_with_their_examples():
    one = Examples.of([("q", "p", ["m", "n"], "a")])
    taught = one.with_negatives(one.negatives, np.array([[3, 2, 1]], np.float32))
    other = Examples.of([("r", "s", ["t", "u", "v"], "a")])
    scores = Examples.joined([other, taught]).teacher
    assert np.isnan(scores[0]).all()
    assert scores[1, :3].tolist() == [3, 2, 1]
    assert np.isnan(scores[1, 3:]).all()
    assert Examples.joined([one, other]).teacher is None


def test_answers_of_strangers_are_left_out():
    examples = Examples.of([("q", "p", ["n"], "a")], {"q": ["n", "not a passage"], "not a query": ["p"]})
    assert examples.answering(0).tolist() == [0, 1]


def test_rows_of_negatives_are_filled_up():
    assert Examples.of([("q", "p", [], "a"), ("r", "s", ["p"], "a")]).negatives.tolist() == [[NOTHING], [0]]
    assert Examples.of_pairs({"a": [TrainingPair("q", "p")]}).negatives.shape == (1, 0)


def test_select_keeps_texts_and_takes_columns():
    examples = Examples.of([("q", "p", ["m"], "a"), ("r", "s", ["n"], "b")])
    taught = examples.with_negatives(examples.negatives, np.array([[0, 1], [2, 3]], np.float32)).select([1])
    assert (list(taught.rows()), taught.queries, taught.teacher.tolist()) == ([("r", "s", ["n"], "b")], ("q", "r"), [[2.0, 3.0]])


def test_a_negative_that_answers_its_query_is_refused():
    examples = Examples.of([("qui ?", "p", ["n"], "a"), ("qui ?", "s", [], "a")])
    with pytest.raises(DataError, match="a negative of example 1 answers its query: 'qui \\?'"):
        examples.with_negatives(np.array([[1], [0]], np.int32))


def test_columns_are_values():
    examples = Examples.of([("q", "p", ["n"], "a")])
    for column in (examples.query, examples.negatives, examples.select([0]).positive):
        with pytest.raises(ValueError, match="read-only"):
            column[...] = 0


def test_columns_that_do_not_fit_are_refused():
    examples = Examples.of([("q", "p", ["n"], "a")])
    with pytest.raises(DataError, match=r"scores of a teacher of shape \(1, 1\), expected \(1, 2\)"):
        examples.with_negatives(examples.negatives, np.zeros((1, 1), np.float32))
    with pytest.raises(DataError, match="1 examples with 1 positives and 2 rows of negatives"):
        examples.with_negatives(np.full((2, 1), NOTHING, np.int32))


def test_no_examples():
    empty = Examples.of([])
    assert (len(empty), list(empty.rows()), empty.negatives.shape) == (0, [], (0, 0))
    assert len(Examples.joined([])) == 0
