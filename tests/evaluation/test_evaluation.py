import subprocess
import sys

import numpy as np
import pytest

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.evaluation.evaluation import evaluate

QRELS = Qrels.of([("q1", "a", 2), ("q1", "b", 1), ("q1", "z", 1), ("q2", "c", 1), ("q3", "a", 1)])
RUN = Run.of("bm25", {"q3": {"x": 1.0}, "q1": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}, "q9": {"a": 1.0}})


def ranked(docs):
    return {doc: float(-rank) for rank, doc in enumerate(docs)}


def test_values_by_hand():
    evaluation = evaluate(QRELS, RUN, "P@3 R@3 F1@3 AP RR Rprec Success@1 nDCG@3 macroMPR")
    assert evaluation.queries.names == ("q1", "q2", "q3")
    ideal = 2 / np.log2(2) + 1 / np.log2(3) + 1 / np.log2(4)
    expected = {
        "P@3": 2 / 3,
        "R@3": 2 / 3,
        "F1@3": 2 / 3,
        "AP": (1 + 2 / 3) / 3,
        "RR": 1.0,
        "Rprec": 2 / 3,
        "Success@1": 1.0,
        "nDCG@3": (2 / np.log2(2) + 1 / np.log2(4)) / ideal,
        "macroMPR": (1.0 + 0.5) / 3,
    }
    for measure, value in expected.items():
        assert evaluation.value(measure, "q1") == pytest.approx(value, abs=1e-12), measure
        assert evaluation.values(measure).tolist() == pytest.approx([value, 0.0, 0.0])
        assert evaluation.mean(measure) == pytest.approx(value / 3)


def test_missing_unjudged_and_irrelevant_queries_are_named():
    qrels = Qrels.of([("q1", "a", 1), ("q2", "c", 1), ("q4", "a", 0), ("q4", "b", -1)])
    evaluation = evaluate(qrels, RUN, "R@5")
    assert evaluation.queries.names == ("q1", "q2")
    assert (evaluation.missing, evaluation.unjudged, evaluation.without_relevant) == (("q2",), ("q3", "q9"), ("q4",))
    assert evaluation.mean("R@5") == 0.5
    assert evaluation.notes() == [
        "1 of 2 queries missing from the run, counted as zero: q2",
        "2 queries of the run without judgements, left out: q3, q9",
        "1 query judged without a relevant document, left out: q4",
    ]


def test_shared_ids_with_empty_rows_on_either_side():
    queries, docs = Ids(["q0", "q1", "q2", "q3"]), Ids(["a", "b"])
    zero = np.array([0], np.int32)
    qrels = Qrels.from_arrays(queries, docs, np.array([1, 3], np.int32), np.array([0, 1], np.int32), np.array([1, 1], np.int32))
    run = Run.from_arrays("x", queries, docs, np.array([2, 3], np.int32), np.repeat(zero, 2), np.ones(2, np.float32))
    evaluation = evaluate(qrels, run, "R@1")
    assert evaluation.queries.names == ("q1", "q3")
    assert (evaluation.missing, evaluation.unjudged, evaluation.without_relevant) == (("q1",), ("q2",), ())
    assert evaluation.values("R@1").tolist() == [0.0, 0.0]


def test_many_missing_queries_are_shortened_in_notes_and_complete_in_names():
    qrels = Qrels.of([(f"q{i}", "a", 1) for i in range(9)])
    evaluation = evaluate(qrels, Run.of("x", {}), "R@5")
    assert len(evaluation.missing) == 9
    assert evaluation.notes() == ["9 of 9 queries missing from the run, counted as zero: q0, q1, q2, q3, q4 and 4 more"]
    assert evaluation.mean("R@5") == 0.0


def test_no_relevant_document_anywhere_is_an_error():
    with pytest.raises(DataError, match="none of the 1 judged queries has a relevant document"):
        evaluate(Qrels.of([("q1", "a", 0)]), RUN, "R@5")


def test_a_grade_that_a_query_lacks_counts_as_zero_and_is_told():
    qrels = Qrels.of([("q1", "a", 2), ("q3", "x", 1)])
    evaluation = evaluate(qrels, RUN, "R(rel=2)@5 Rprec(rel=2) AP(rel=2) macroMPR(rel=2) R@5")
    for measure in evaluation.measures[:4]:
        assert evaluation.values(measure).tolist() == [1.0, 0.0], measure
    assert evaluation.notes()[-4] == "1 of 2 queries have no document of grade 2 and count as zero in R(rel=2)@5"
    assert len(evaluation.without_grade) == 4


def test_judged_documents_that_the_run_does_not_know():
    assert evaluate(Qrels.of([("q1", "nowhere", 1)]), RUN, "R@5 AP MPR macroMPR nDCG").means == pytest.approx(
        dict.fromkeys(evaluate(QRELS, RUN, "R@5 AP MPR macroMPR nDCG").measures, 0.0)
    )


@pytest.mark.parametrize("measure", ["MPR", "macroMPR"])
@pytest.mark.parametrize(("doc", "value"), [("a", 1.0), ("b", 0.9), ("j", 0.1), ("unranked", 0.0)])
def test_percentile_rank_from_first_to_last_and_unranked(measure, doc, value):
    run = Run.of("x", {"q": ranked("abcdefghij")})
    assert evaluate(Qrels.of([("q", doc, 1)]), run, measure).mean(measure) == pytest.approx(value)


def test_percentile_ranks_of_pairs_leave_out_what_is_not_ranked_and_say_so():
    qrels = Qrels.of([("q", "b", 1), ("q", "unranked", 1), ("p", "j", 1), ("none", "a", 1)])
    run = Run.of("x", {"q": ranked("abcdefghij"), "p": ranked("abcdefghij")})
    evaluation = evaluate(qrels, run, "MPR macroMPR")
    assert evaluation.mean("MPR") == pytest.approx((0.9 + 0.1) / 2)
    assert evaluation.values("macroMPR").tolist() == pytest.approx([0.9 / 2, 0.1, 0.0])
    assert evaluation.notes()[-1] == "2 relevant documents are not ranked and left out of MPR; macroMPR counts them as zero"
    assert evaluation.as_json()["unranked"] == {"MPR": 2}
    with pytest.raises(ConfigError, match="no values per query; use F1, P, R or macroMPR instead"):
        evaluation.values("MPR")


@pytest.mark.parametrize("cutoff", [1, 3, 5, 50])
@pytest.mark.parametrize("rel", [1, 2])
def test_micro_measures_by_a_direct_loop(cutoff, rel):
    generator = np.random.default_rng(cutoff)
    judged = {"q-missing": {"d1": 2}}
    rankings = {}
    for query in [f"q{i}" for i in range(20)]:
        judged[query] = {f"d{d}": int(generator.integers(0, 3)) for d in generator.choice(30, 15, replace=False)}
        rankings[query] = ranked([f"d{d}" for d in generator.choice(30, generator.integers(1, 9), replace=False)])
    found = returned = relevant = 0
    for query, grades in judged.items():
        top = list(rankings.get(query, {}))[:cutoff]
        found += sum(grades.get(doc, 0) >= rel for doc in top)
        returned += len(top)
        relevant += sum(grade >= rel for grade in grades.values())
    precision, recall = found / returned, found / relevant
    qrels = Qrels.of([(query, doc, grade) for query, grades in judged.items() for doc, grade in grades.items()])
    assert all(any(grade >= 1 for grade in grades.values()) for grades in judged.values())
    names = [f"micro{kind}(rel={rel})@{cutoff}" for kind in ("P", "R", "F1")]
    evaluation = evaluate(qrels, Run.of("x", rankings), " ".join(names))
    expected = [precision, recall, 2 * precision * recall / (precision + recall)]
    assert [evaluation.mean(name) for name in names] == pytest.approx(expected, abs=1e-12)


def test_micro_measures_without_cutoff_count_all_returned():
    assert evaluate(QRELS, RUN, "microP microR microF1").means == pytest.approx(
        dict(zip(evaluate(QRELS, RUN, "microP microR microF1").measures, [2 / 5, 2 / 5, 2 / 5], strict=True))
    )


def test_micro_measures_of_an_empty_run_are_zero():
    assert set(evaluate(QRELS, Run.of("x", {}), "microP@5 microR@5 microF1@5").means.values()) == {0.0}
    assert evaluate(QRELS, RUN, "microR(rel=5)@5").mean("microR(rel=5)@5") == 0.0


def test_f1_is_the_harmonic_mean_of_p_and_r():
    evaluation = evaluate(QRELS, RUN, "F1@2 P@2 R@2")
    precision, recall = evaluation.values("P@2"), evaluation.values("R@2")
    total = precision + recall
    harmonic = np.divide(2 * precision * recall, total, out=np.zeros(3), where=total > 0)
    assert evaluation.values("F1@2").tolist() == pytest.approx(harmonic.tolist(), abs=1e-12)


def test_a_collection_measure_has_no_values_per_query():
    evaluation = evaluate(QRELS, RUN, "microF1@5")
    with pytest.raises(ConfigError, match="no values per query"):
        evaluation.values("microF1@5")
    with pytest.raises(ConfigError, match="no values per query"):
        evaluation.value("microF1@5", "q1")


def test_asking_for_what_was_not_evaluated():
    evaluation = evaluate(QRELS, RUN, "R@5")
    with pytest.raises(NotFoundError, match=r"P@5 was not evaluated; there are R@5"):
        evaluation.mean("P@5")
    with pytest.raises(NotFoundError, match="q9"):
        evaluation.value("R@5", "q9")


def test_no_measures():
    with pytest.raises(ConfigError, match="no measure given"):
        evaluate(QRELS, RUN, [])


def test_lines_and_json():
    evaluation = evaluate(QRELS, RUN, "nDCG@10 R@5 microP@5")
    assert str(evaluation).splitlines()[1] == "R@5       0.2222"
    assert str(evaluation).splitlines()[3].startswith("1 of 3 queries missing")
    assert evaluation.as_json()["means"]["microP@5"] == pytest.approx(0.4)
    assert evaluation.as_json()["missing"] == ["q2"]


def test_values_are_float64_and_cannot_be_written():
    values = evaluate(QRELS, RUN, "R@5").values("R@5")
    assert values.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1.0


def test_hash_collisions_of_the_scan_change_nothing():
    """Far more judgements and documents than flags in the smallest table: every false candidate is refused."""
    generator = np.random.default_rng(0)
    queries, docs = Ids([f"q{i}" for i in range(50)]), Ids([f"d{i}" for i in range(3000)])
    doc = np.concatenate([generator.permutation(3000) for _ in range(50)]).astype(np.int32)
    every = np.repeat(np.arange(50, dtype=np.int32), 3000)
    run = Run.from_arrays("x", queries, docs, every, doc, -np.arange(150_000, dtype=np.float32))
    judged = np.concatenate([generator.choice(3000, 200, replace=False) for _ in range(50)]).astype(np.int32)
    row = np.repeat(np.arange(50, dtype=np.int32), 200)
    qrels = Qrels.from_arrays(queries, docs, row, judged, np.ones(10_000, np.int32))
    evaluation = evaluate(qrels, run, "R@100 macroMPR")
    for at in range(50):
        relevant = set(judged[row == at].tolist())
        ranks = [rank for rank, d in enumerate(doc[at * 3000 : (at + 1) * 3000].tolist()) if d in relevant]
        assert evaluation.values("R@100")[at] == pytest.approx(sum(rank < 100 for rank in ranks) / 200)
        assert evaluation.values("macroMPR")[at] == pytest.approx(np.mean([1 - rank / 3000 for rank in ranks]))


def test_importing_evaluate_does_not_load_scipy():
    code = "import sys, lexfuse.evaluation; sys.exit(any(name.split('.')[0] == 'scipy' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_several_runs_make_a_table_with_the_notes_of_each():
    other = Run.of("dense", {query: {"a": 1.0, "c": 0.5} for query in ("q1", "q2", "q3")})
    table = evaluate(QRELS, [RUN, other], "RR R@5")
    assert [each.run for each in table] == ["bm25", "dense"]
    assert table[1].means == evaluate(QRELS, other, "RR R@5").means
    lines = str(table).splitlines()
    assert lines[0].split() == ["run", "RR", "R@5"]
    assert lines[1].split() == ["bm25", "0.3333", "0.2222"]
    assert lines[3] == "bm25: 1 of 3 queries missing from the run, counted as zero: q2"


@pytest.mark.parametrize(("runs", "message"), [([], "no run given"), ([RUN, RUN], "different names, got bm25, bm25")])
def test_no_runs_and_runs_of_one_name_are_refused(runs, message):
    with pytest.raises(ConfigError, match=message):
        evaluate(QRELS, runs, "RR")
