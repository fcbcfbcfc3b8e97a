"""What must hold for every run and every measure."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.measure import CutoffRule
from lexfuse.evaluation.measure_names import MEASURES, parse_measure

ALL = "nDCG@3 nDCG R@3 P@3 F1@3 AP@3 AP RR@3 RR Rprec Success@3 macroMPR MPR P(rel=2)@3 Rprec(rel=2) microF1@3 microP microR"
DOCS = st.sampled_from([f"d{i}" for i in range(12)])
QUERY = st.sampled_from([f"q{i}" for i in range(6)])
RANKINGS = st.dictionaries(QUERY, st.dictionaries(DOCS, st.integers(-3, 3).map(float), min_size=1), max_size=6)
JUDGEMENTS = st.dictionaries(st.tuples(QUERY, DOCS), st.integers(-1, 3), min_size=1).filter(
    lambda grades: max(grades.values()) > 0
)


def triples(judgements):
    return [(query, doc, grade) for (query, doc), grade in judgements.items()]


def by_query(evaluation):
    return {
        str(measure): dict(zip(evaluation.queries, evaluation.values(measure).tolist(), strict=True))
        for measure in evaluation.per_query
    } | {str(measure): value for measure, value in evaluation.per_collection.items()}


@given(JUDGEMENTS, RANKINGS, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_permuting_queries_or_lines_changes_no_value(judgements, rankings, order: random.Random):
    lines = triples(judgements)
    once = evaluate(Qrels.of(lines), Run.of("x", rankings), ALL)
    order.shuffle(lines)
    rows = order.sample(list(rankings.items()), len(rankings))
    shuffled = {query: dict(order.sample(list(ranking.items()), len(ranking))) for query, ranking in rows}
    again = evaluate(Qrels.of(lines), Run.of("x", shuffled), ALL)
    assert by_query(once) == by_query(again)
    assert set(once.missing) == set(again.missing)
    assert set(once.unjudged) == set(again.unjudged)


@given(JUDGEMENTS, RANKINGS)
@settings(max_examples=60, deadline=None)
def test_every_value_lies_between_zero_and_one(judgements, rankings):
    evaluation = evaluate(Qrels.of(triples(judgements)), Run.of("x", rankings), ALL)
    for measure in evaluation.per_query:
        values = evaluation.values(measure)
        assert ((values >= 0.0) & (values <= 1.0 + 1e-12)).all(), measure
    assert all(0.0 <= value <= 1.0 for value in evaluation.per_collection.values())


@given(JUDGEMENTS, RANKINGS)
@settings(max_examples=50, deadline=None)
def test_an_irrelevant_document_at_the_end_raises_nothing_but_percentiles(judgements, rankings):
    qrels = Qrels.of(triples(judgements))
    longer = {query: {**ranking, "nobody-judged": -9.0} for query, ranking in rankings.items()}
    before, after = (evaluate(qrels, Run.of("x", each), ALL) for each in (rankings, longer))
    for measure in before.per_query:
        if measure.name == "macroMPR":  # more candidates lie below
            assert (after.values(measure) >= before.values(measure)).all()
        else:
            np.testing.assert_array_equal(after.values(measure), before.values(measure))
    assert after.mean("microP") <= before.mean("microP")


@given(JUDGEMENTS)
@settings(max_examples=50, deadline=None)
def test_the_ideal_ranking_is_perfect(judgements):
    lines = triples(judgements)
    rankings: dict[str, dict[str, float]] = {}
    for query, doc, grade in lines:
        rankings.setdefault(query, {})[doc] = float(grade)
    evaluation = evaluate(Qrels.of(lines), Run.of("ideal", rankings), "nDCG@3 nDCG AP RR Rprec Success@1")
    assert all(abs(mean - 1.0) < 1e-12 for mean in evaluation.means.values())


SCORES = st.floats(width=32, allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0])


@given(st.dictionaries(QUERY, st.dictionaries(DOCS, SCORES)))
@settings(max_examples=60, deadline=None)
def test_rankings_go_by_score_descending_then_document_id(rankings):
    run = Run.of("x", rankings)
    for query, ranking in rankings.items():
        expected = sorted(ranking, key=lambda doc: (-ranking[doc], doc))
        assert [hit.doc for hit in run.hits(query)] == expected


@st.composite
def measures(draw):
    kind = draw(st.sampled_from(MEASURES))
    with_cutoff = kind.takes is CutoffRule.CUTOFF or (kind.takes is CutoffRule.OPTIONAL_CUTOFF and draw(st.booleans()))
    cutoff = draw(st.integers(1, 10**6)) if with_cutoff else None
    return kind(cutoff, 1 if kind.graded else draw(st.integers(1, 5)))


@given(measures())
def test_text_reads_back_to_an_equal_measure(measure):
    again = parse_measure(repr(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert repr(again) == repr(measure)
    assert parse_measure(repr(measure).upper().replace("REL", "rel")) == measure
