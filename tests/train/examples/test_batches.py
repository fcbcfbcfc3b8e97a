"""Batches: who meets whom, in which order, and that nothing is lost."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lexfuse.errors import ConfigError
from lexfuse.train.examples.batches import Batches, SamplingUnit
from lexfuse.train.examples.examples import NOTHING, Examples

QUERIES, PASSAGES, SOURCES = 6, 9, ("one", "two", "three")


@st.composite
def examples(draw, sources=SOURCES):
    """Some rows of few texts, so that queries and passages meet often; and more answers than are learned from."""
    row = st.tuples(st.integers(0, QUERIES - 1), st.integers(0, PASSAGES - 1), st.lists(st.integers(0, PASSAGES - 1), max_size=4))
    rows = draw(st.lists(st.tuples(row, st.sampled_from(sources)), min_size=1, max_size=20))
    more = draw(st.dictionaries(st.integers(0, QUERIES - 1), st.lists(st.integers(0, PASSAGES - 1), max_size=3)))
    return Examples.of(
        ((f"q{query}", f"p{positive}", [f"p{other}" for other in others], source) for (query, positive, others), source in rows),
        {f"q{query}": [f"p{passage}" for passage in passages] for query, passages in more.items()},
    )


sizes = st.integers(1, 8)


def same(one, other):
    assert (one.query.tolist(), one.passage.tolist()) == (other.query.tolist(), other.passage.tolist())
    assert (one.allowed.tolist(), one.own.tolist()) == (other.allowed.tolist(), other.own.tolist())


@given(examples(SOURCES[:1]), sizes, st.sampled_from(SamplingUnit))
def test_every_example_or_query_has_its_turn(some, size, turn):
    """The first that waits always goes, each waits once, and a round is added when none is left: none waits for long."""
    seen = set()
    for batch in islice(Batches(some, size, turn=turn).from_start(), 4 * len(some)):
        positives = batch.passage[: len(batch)]
        seen |= set(zip(batch.query.tolist(), positives.tolist(), strict=True))
    if turn is SamplingUnit.EXAMPLE:
        assert seen == set(zip(some.query.tolist(), some.positive.tolist(), strict=True))
    else:
        assert {query for query, _ in seen} == set(some.query.tolist())


@given(st.integers(1, 12), st.integers(1, 8))
def test_where_nothing_meets_twice_all_are_seen_equally_often(count, size):
    some = Examples.of((f"q{at}", f"p{at}", [], "a") for at in range(count))
    stream = Batches(some, size).from_start()
    times = np.zeros(count, dtype=int)
    for batch in islice(stream, 10):
        times[batch.query] += 1
        assert np.ptp(times) <= 1
        assert len(batch) == min(size, count)


@given(st.integers(2, 8), st.integers(2, 5))
def test_a_query_with_many_answers_shows_each_in_turn(count, size):
    """Only one of them fits into a batch; what waits is neither dropped nor put off by another round."""
    some = Examples.of(("q", f"p{at}", [], "a") for at in range(count))
    times = np.zeros(count, dtype=int)
    for batch in islice(Batches(some, size).from_start(), 4 * count):
        times[batch.passage] += 1
        assert np.ptp(times) <= 1


@given(examples(), sizes)
def test_no_query_and_no_positive_is_twice_in_a_batch(some, size):
    for batch in islice(Batches(some, size, 2).from_start(), 6):
        assert len(set(batch.query.tolist())) == len(batch) <= size
        assert len(set(batch.passage.tolist())) == len(batch.passage)
        assert batch.own[:, 0].tolist() == list(range(len(batch)))


@given(examples(), sizes)
def test_what_answers_a_query_never_counts_against_it(some, size):
    for batch in islice(Batches(some, size, 3).from_start(), 6):
        for row, query in enumerate(batch.query.tolist()):
            known = set(some.answering(query).tolist())
            for column, passage in enumerate(batch.passage.tolist()):
                assert batch.allowed[row, column] == (passage not in known or column == row)
            own = batch.own[row, 1:]
            assert not known & set(batch.passage[own[own != NOTHING]].tolist())


@given(examples(), sizes)
def test_a_batch_is_of_one_source(some, size):
    of = {}
    for query, positive, source in zip(some.query.tolist(), some.positive.tolist(), some.source.tolist(), strict=True):
        of.setdefault((query, positive), set()).add(source)
    for batch in islice(Batches(some, size).from_start(), 6):
        met = [of[pair] for pair in zip(batch.query.tolist(), batch.passage.tolist(), strict=False)]
        assert set.intersection(*met)


@given(examples(), sizes, st.integers(0, 6), st.sampled_from(SamplingUnit))
def test_going_on_is_the_same_as_skipping(some, size, skipped, turn):
    batches = Batches(some, size, 2, seed=5, turn=turn)
    whole = list(islice(batches.from_start(), skipped + 3))
    for one, other in zip(islice(batches.from_start(skipped), 3), whole[skipped:], strict=True):
        same(one, other)


@given(examples(), sizes, st.integers(1, 3))
def test_a_part_of_a_batch_has_its_own_passages_alone(some, size, parts):
    batch = next(Batches(some, size, 2).from_start())
    step = -(-len(batch) // parts)
    for start in range(0, len(batch), step):
        part = batch.rows(start, min(len(batch), start + step))
        assert part.query.tolist() == batch.query[start : start + step].tolist()
        for row in range(len(part)):
            whole, own = batch.own[start + row], part.own[row]
            assert (own == NOTHING).tolist() == (whole == NOTHING).tolist()
            there = own != NOTHING
            assert part.passage[own[there]].tolist() == batch.passage[whole[there]].tolist()
        columns = [batch.passage.tolist().index(passage) for passage in part.passage.tolist()]
        assert part.allowed.tolist() == batch.allowed[start : start + step][:, columns].tolist()
        assert set(part.own[part.own != NOTHING].tolist()) == set(range(len(part.passage)))


@given(examples())
def test_negatives_are_drawn_from_those_of_the_example(some):
    given = {}
    for query, positive, others in zip(some.query.tolist(), some.positive.tolist(), some.negatives.tolist(), strict=True):
        given.setdefault((query, positive), set()).update(others)
    for batch in islice(Batches(some, 4, 2).from_start(), 6):
        for row in range(len(batch)):
            own = batch.own[row, 1:]
            drawn = batch.passage[own[own != NOTHING]].tolist()
            assert set(drawn) <= given[int(batch.query[row]), int(batch.passage[row])]


def test_shares_are_respected():
    some = Examples.of((f"q{at}", f"p{at}", [], SOURCES[at % 3]) for at in range(90))
    batches = Batches(some, 5, shares={"one": 3.0, "two": 1.0})
    found = [int(batch.query[0]) % 3 for batch in islice(batches.from_start(), 1500)]
    assert found.count(2) == 0
    assert found.count(0) / len(found) == pytest.approx(0.75, abs=0.03)


def test_without_shares_the_number_of_examples_decides():
    some = Examples.of((f"q{at}", f"p{at}", [], "one" if at < 80 else "two") for at in range(100))
    found = [int(batch.query[0]) < 80 for batch in islice(Batches(some, 5).from_start(), 1500)]
    assert sum(found) / len(found) == pytest.approx(0.8, abs=0.03)


@given(examples(), st.integers(0, 3))
def test_another_seed_gives_other_batches(some, seed):
    assume(len(set(some.query.tolist())) > 3)
    orders = [[batch.query.tolist() for batch in islice(Batches(some, 2, seed=one).from_start(), 10)] for one in (seed, seed + 1)]
    assert orders[0] != orders[1]


def test_a_round_of_queries_draws_another_positive_each_time():
    some = Examples.of(("q", f"p{at}", [], "a") for at in range(20))
    found = {int(batch.passage[0]) for batch in islice(Batches(some, 4, turn=SamplingUnit.QUERY).from_start(), 10)}
    assert len(found) > 3


def test_scores_of_a_teacher_go_with_the_negatives_that_were_drawn():
    names = [f"n{at}" for at in range(5)]
    some = Examples.of([("q", "p", names, "a")])
    scores = np.arange(6, dtype=np.float32).reshape(1, 6)
    taught = some.with_negatives(some.negatives, scores)
    batch = next(Batches(taught, 1, 3).from_start())
    passages = [taught.passages[passage] for passage in batch.passage[batch.own[0]]]
    assert passages[0] == "p"
    assert batch.teacher[0].tolist() == [0.0, *(1.0 + names.index(name) for name in passages[1:])]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 0}, "a batch needs at least 1 query"),
        ({"size": 1, "negatives": -1}, "at least 0 negatives"),
        ({"size": 1, "shares": {"none": 1.0}}, "no source is called 'none'; there are a"),
        ({"size": 1, "shares": {"a": -1.0}}, "must be positive"),
        ({"size": 1, "shares": {"a": 0.0}}, "must be positive"),
    ],
)
def test_what_gives_no_batch_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        Batches(Examples.of([("q", "p", [], "a")]), **changes)


def test_shares_of_sources_without_examples_are_refused():
    some = Examples.of([("q", "p", [], "a"), ("r", "s", [], "b")]).select([0])
    with pytest.raises(ConfigError, match="no example of any source that has a share"):
        Batches(some, 1, shares={"b": 1.0})


def test_no_examples_are_refused():
    with pytest.raises(ConfigError, match="no examples"):
        Batches(Examples.of([]), 1)
