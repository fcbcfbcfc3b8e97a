"""Measures against ir_measures (pytrec_eval behind it), and where LexFuse differs on purpose."""

import ir_measures
import numpy as np
import pytest

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.measure_names import parse_measures

SHARED = (
    "nDCG@1 nDCG@10 nDCG@500 nDCG R@1 R@10 R@100 R@500 P@1 P@5 P@500 AP@5 AP@100 AP RR@1 RR@10 RR Rprec Success@1 Success@5 "
    "R(rel=2)@10 P(rel=2)@10 AP(rel=2)@100 AP(rel=3) RR(rel=2) RR(rel=2)@10 Rprec(rel=2) Success(rel=3)@5"
)


def random_collection(seed, top_grade, share_ids):
    """Random judgements and a run without ties, over rankings of 0 to 120 documents."""
    generator = np.random.default_rng(seed)
    docs, queries = Ids([f"d{i}" for i in range(300)]), Ids([f"q{i}" for i in range(40)])
    triples, rankings = [], {}
    for query in queries:
        judged = [docs[int(doc)] for doc in generator.choice(300, size=generator.integers(1, 60), replace=False)]
        triples += [(query, doc, int(generator.integers(0, top_grade + 1))) for doc in judged]
        triples.append((query, "d-not-ranked", top_grade))
        ranked = generator.choice(300, size=generator.integers(1, 120), replace=False)
        scores = generator.permutation(1000)[: len(ranked)] / np.float32(7)
        rankings[query] = {docs[int(doc)]: float(score) for doc, score in zip(ranked, scores, strict=True)}
    run, qrels = Run.of("random", rankings), Qrels.of(triples)
    if share_ids:
        every = Ids(sorted({*run.docs, *qrels.docs}))
        row = np.repeat(np.arange(len(run.queries), dtype=np.int32), np.diff(run.offsets))
        run = Run.from_arrays("random", run.queries, every, row, every.ordinals(run.docs)[run.doc], run.score)
        judged = np.repeat(run.queries.ordinals(qrels.queries), np.diff(qrels.offsets))
        qrels = Qrels.from_arrays(run.queries, every, judged, every.ordinals(qrels.docs)[qrels.doc], qrels.grade)
    return qrels, run


def peer_values(qrels, run, measure):
    results = ir_measures.iter_calc([ir_measures.parse_measure(str(measure))], qrels.as_dict(), run.as_dict())
    return {result.query_id: result.value for result in results}


@pytest.mark.parametrize("share_ids", [False, True])
@pytest.mark.parametrize(("seed", "top_grade"), [(1, 1), (2, 3), (3, 4)])
def test_equals_ir_measures_per_query(seed, top_grade, share_ids):
    qrels, run = random_collection(seed, top_grade, share_ids)
    evaluation = evaluate(qrels, run, SHARED)
    assert len(evaluation.queries) == 40
    for measure in evaluation.measures:
        theirs = peer_values(qrels, run, measure)
        for query in evaluation.queries:
            assert evaluation.value(measure, query) == pytest.approx(theirs[query], abs=1e-9), (measure, query)


@pytest.mark.parametrize("measure", parse_measures(SHARED))
def test_every_measure_alone_equals_all_together(measure):
    """Alone a measure is computed from a shallower scan."""
    qrels, run = random_collection(7, 3, share_ids=True)
    together = evaluate(qrels, run, SHARED)
    np.testing.assert_array_equal(evaluate(qrels, run, [measure]).values(measure), together.values(measure))


def test_negative_grades_are_not_relevant_for_either():
    qrels, run = Qrels.of([("q", "a", -1), ("q", "b", 2), ("q", "c", 0)]), Run.of("x", {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    for measure, mean in evaluate(qrels, run, "nDCG@10 AP RR P@3").means.items():
        assert mean == pytest.approx(peer_values(qrels, run, measure)["q"], abs=1e-9)


def test_ties_follow_document_id_ascending_and_trec_eval_goes_the_other_way():
    qrels, run = Qrels.of([("q", "a", 1)]), Run.of("x", {"q": {"a": 1.0, "b": 1.0}})
    assert evaluate(qrels, run, "RR").mean("RR") == 1.0
    assert peer_values(qrels, run, "RR")["q"] == 0.5


def test_a_query_without_relevant_documents_is_left_out_where_pytrec_eval_counts_zero():
    qrels, run = Qrels.of([("q1", "a", 1), ("q2", "a", 0)]), Run.of("x", {"q1": {"a": 1.0}, "q2": {"a": 1.0}})
    evaluation = evaluate(qrels, run, "nDCG@10")
    assert (evaluation.mean("nDCG@10"), evaluation.without_relevant) == (1.0, ("q2",))
    assert peer_values(qrels, run, "nDCG@10") == {"q1": 1.0, "q2": 0.0}


def sdr_program(gold, rankings):
    """The mean percentile rank as SDR's published program defines it: lower is better, pairs that are not ranked are skipped."""
    percentiles = []
    for query, ranking in rankings.items():
        places = {doc: place for place, doc in enumerate(sorted(ranking, key=ranking.get, reverse=True))}
        for doc, count in gold[query].items():
            if doc in places:
                percentiles += [places[doc] / len(places)] * count
    return sum(percentiles) / len(percentiles)


@pytest.mark.parametrize("top_grade", [1, 3])
def test_mean_percentile_rank_is_the_complement_of_what_the_program_of_sdr_prints(top_grade):
    qrels, run = random_collection(top_grade, top_grade, share_ids=False)
    gold = {query: {doc: grade for doc, grade in docs.items() if grade > 0} for query, docs in qrels.as_dict().items()}
    expected = 1 - sdr_program(gold, run.as_dict())
    evaluation = evaluate(qrels, run, "MPR macroMPR")
    assert evaluation.mean("MPR") == pytest.approx(expected, abs=1e-12)
    assert evaluation.mean("macroMPR") < expected - 0.1  # every query has a relevant document that is not ranked
