"""Equation 9 of RPRS against a plain transcription, whatever scores the sentences."""

import numpy as np
import pytest

from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.rerank.birch import Birch, DocumentScore
from lexfuse.rerank.reranker import reorder
from lexfuse.text.passages import Passage


class Table:
    """Sentence scores from a table: query, document, scores."""

    members = ()

    def __init__(self, table):
        self.table = table

    def scores(self, query, docs):
        return [np.array(self.table[query.id, doc], dtype=np.float32) for doc in docs]

    def sentences(self, doc):
        return [Passage(10 * number, 10 * number + 9) for number in range(99)]


def problem(seed):
    """Random rankings of three queries, one without documents, and random sentence scores."""
    chance = np.random.default_rng(seed)
    docs = [f"d{number:02}" for number in range(20)]
    rankings = {f"q{number}": {doc: float(chance.normal(20, 8)) for doc in docs} for number in range(2)} | {"none": {}}
    table = {
        (query, doc): chance.uniform(-1, 1, size=chance.integers(1, 8)).astype(np.float32)
        for query, ranking in rankings.items()
        for doc in ranking
    }
    return Queries.of(Query(id, "…") for id in rankings), Run.of("first", rankings), Table(table)


def transcribed(run, query, doc, table, depth, a, weights, raw):
    """a · S_doc + (1 - a) · sum of w_i · S_i, as it is written."""
    hits = run.hits(query)[:depth]
    own = next(hit.score for hit in hits if hit.doc == doc)
    low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
    document = own if raw else (own - low) / (high - low)
    best = sorted((float(score) for score in table[query, doc]), reverse=True)
    total = 0.0
    for number, weight in enumerate(weights):
        if number < len(best):
            total += weight * best[number]
    return a * document + (1 - a) * total


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("weights", [(1.0,), (0.7, 0.3), (1.0, 0.5, 0.25), (1 / 3, 1 / 3, 1 / 3)])
@pytest.mark.parametrize("a", [0.0, 0.3, 1.0])
def test_scores_are_those_of_the_equation(a, weights, raw):
    for seed in range(3):
        queries, run, table = problem(seed)
        kind = DocumentScore.RAW if raw else DocumentScore.MIN_MAX
        found = Birch(table, depth=12, a=a, weights=weights, document=kind).rerank(queries, run, depth=12)
        for query in ("q0", "q1"):
            first = [hit.doc for hit in run.hits(query)[:12]]
            expected = {doc: transcribed(run, query, doc, table.table, 12, a, weights, raw) for doc in first}
            hits = found.hits(query)
            assert [hit.score for hit in hits[:12]] == pytest.approx(sorted(expected.values(), reverse=True), rel=1e-6, abs=1e-6)
            assert all(hit.score == pytest.approx(expected[hit.doc], rel=1e-6, abs=1e-6) for hit in hits[:12])
            assert [hit.doc for hit in hits[12:]] == [hit.doc for hit in run.hits(query)[12:]]
        assert found.hits("none") == []


def test_the_documents_own_score_alone_keeps_the_order():
    queries, run, table = problem(0)
    found = Birch(table, depth=20, a=1.0).rerank(queries, run, depth=20)
    assert [hit.doc for hit in found.hits("q0")] == [hit.doc for hit in run.hits("q0")]


def test_a_document_without_known_sentences_comes_after_the_others():
    queries, run, table = problem(1)
    best = run.hits("q0")[0].doc
    table.table["q0", best] = []
    hits = Birch(table, depth=5).rerank(queries, run, depth=5).hits("q0")
    assert hits[4].doc == best
    assert "birch" not in hits[4].parts


def test_one_document_alone_is_in_the_middle_of_its_scale():
    run = Run.of("first", {"q": {"x": 7.0}})
    birch = Birch(Table({("q", "x"): [0.5]}), a=0.5, weights=(1.0,))
    assert birch.rerank(Queries.of([Query("q", "…")]), run, depth=9).as_dict() == {"q": {"x": 0.5}}


def test_the_sentences_that_count_are_told_best_first_and_of_equals_the_first():
    birch = Birch(Table({("q", "x"): [0.1, 0.7, 0.9, 0.7]}), weights=(1.0, 0.5, 0.25))
    found = birch.best_sentences(Query("q", "…"), "x")
    assert [(one.passage.start, round(one.score, 6), one.weight) for one in found] == [
        (20, 0.9, 1.0),
        (10, 0.7, 0.5),
        (30, 0.7, 0.25),
    ]
    assert len(Birch(Table({("q", "x"): [0.1]})).best_sentences(Query("q", "…"), "x")) == 1


def test_parts_of_earlier_stages_stay():
    queries, run, table = problem(2)
    ids = Ids(run.queries)
    first = reorder(Run("first", ids, run.docs, run.offsets, run.doc, run.score), "middle", run.score * 2, 20)
    hit = Birch(table, depth=3).rerank(queries, first, depth=3).hits("q0")[0]
    assert set(hit.parts) == {"first", "middle", "birch"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth of reranking must be at least 1"),
        ({"a": -0.1}, "must lie between 0 and 1, got -0.1"),
        ({"a": float("nan")}, "must lie between 0 and 1, got nan"),
        ({"weights": ()}, r"one or more numbers of 0 or more, got \[\]"),
        ({"weights": (1.0, -1.0)}, "one or more numbers of 0 or more"),
    ],
)
def test_numbers_that_the_equation_does_not_know_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Birch(Table({}), **options)
