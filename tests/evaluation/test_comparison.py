import json
import math

import numpy as np
import pytest

from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.evaluation.bootstrap import difference_interval
from lexfuse.evaluation.comparison import compare
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.significance import adjust_p_values, effect_size, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest

QUERIES = [f"q{i}" for i in range(30)]
QRELS = Qrels.of([(query, f"{query}-{at}", 1) for query in QUERIES for at in range(3)])


def made_run(name, quality, seed, queries=QUERIES):
    """Relevant documents score higher by `quality`, on top of noise."""
    generator = np.random.default_rng(seed)
    return Run.of(
        name,
        {
            query: {f"{query}-{at}": float(generator.normal() + (quality if at < 3 else 0.0)) for at in range(20)}
            for query in queries
        },
    )


RUNS = [made_run("bm25", 0.5, 1), made_run("dense", 0.6, 2), made_run("hybrid", 2.5, 3)]


@pytest.mark.parametrize("test", PairedTest)
@pytest.mark.parametrize("correction", Correction)
def test_rows_hold_what_the_parts_give(test, correction):
    comparison = compare(QRELS, RUNS, "nDCG@10 R@5", baseline="bm25", test=test, correction=correction, level=0.1, seed=4)
    base = evaluate(QRELS, RUNS[0], "nDCG@10 R@5")
    p_values = []
    for run in RUNS[1:]:
        other = evaluate(QRELS, run, "nDCG@10 R@5")
        for measure in base.measures:
            row = comparison.row(run.name, measure)
            ours, theirs = other.values(measure), base.values(measure)
            assert row.mean == other.mean(measure)
            assert row.difference == pytest.approx(np.mean(ours - theirs), abs=1e-12)
            assert row.paired.p == pytest.approx(paired_test(test, ours, theirs, seed=4).p, abs=1e-12)
            assert row.paired.interval == difference_interval(ours, theirs, level=0.1, seed=4)
            assert row.paired.effect_size == pytest.approx(effect_size(ours - theirs), abs=1e-9)
            assert (row.paired.wins, row.paired.losses) == (np.sum(ours - theirs > 1e-9), np.sum(ours - theirs < -1e-9))
            assert row.paired.wins + row.paired.ties + row.paired.losses == 30
            p_values.append(row.paired.p)
    family = [row.paired.adjusted_p for row in comparison.rows if row.paired]
    assert family == pytest.approx(adjust_p_values(p_values, correction).tolist())
    assert [row.paired.significant for row in comparison.rows if row.paired] == [p < 0.1 for p in family]


def test_the_better_run_is_found_and_the_equal_one_is_not():
    comparison = compare(QRELS, RUNS, "nDCG@10", baseline="bm25")
    assert comparison.row("hybrid", "nDCG@10").paired.significant
    assert comparison.row("hybrid", "nDCG@10").paired.interval.low > 0
    assert not comparison.row("dense", "nDCG@10").paired.significant


def test_order_of_queries_does_not_matter():
    """Two runs with their queries in other orders are paired by id."""
    turned = [made_run("bm25", 0.5, 1), RUNS[1]]
    shuffled = {query: RUNS[1].as_dict()[query] for query in reversed(QUERIES)}
    one = compare(QRELS, turned, "RR", baseline="bm25").as_json()
    two = compare(QRELS, [turned[0], Run.of("dense", shuffled)], "RR", baseline="bm25").as_json()
    assert one == two


def test_a_run_equal_to_the_baseline():
    twin = Run.of("twin", RUNS[0].as_dict())
    paired = compare(QRELS, [RUNS[0], twin], "nDCG@10", baseline="bm25").row("twin", "nDCG@10").paired
    assert (paired.p, paired.effect_size, paired.ties, paired.note) == (1.0, 0.0, 30, "no query differs")
    assert (paired.interval.low, paired.interval.high) == (0.0, 0.0)


def test_collection_measures_are_compared_without_a_test():
    comparison = compare(QRELS, RUNS, "microF1@5 F1@5", baseline="bm25")
    row = comparison.row("hybrid", "microF1@5")
    assert row.paired is None
    assert row.difference == pytest.approx(row.mean - comparison.row("bm25", "microF1@5").mean)
    assert len([row for row in comparison.rows if row.paired]) == 2
    assert "interval" not in comparison.as_json()["runs"]["hybrid"]["microF1@5"]


def test_json_is_strict_json_even_with_an_infinite_effect():
    qrels = Qrels.of([("q1", "a", 1), ("q2", "a", 1)])
    runs = [Run.of("none", {"q1": {"x": 1.0}, "q2": {"x": 1.0}}), Run.of("all", {"q1": {"a": 1.0}, "q2": {"a": 1.0}})]
    comparison = compare(qrels, runs, "RR", baseline="none")
    assert comparison.row("all", "RR").paired.effect_size == math.inf
    written = json.loads(json.dumps(comparison.as_json(), allow_nan=False))
    assert written["runs"]["all"]["RR"]["effect_size"] is None
    assert (written["test"], written["correction"], written["queries"]) == ("t", "holm", 2)


def test_missing_queries_of_each_run_are_told():
    part = made_run("part", 0.5, 5, QUERIES[:-2])
    comparison = compare(QRELS, [RUNS[0], part], "RR", baseline="bm25")
    assert comparison.notes() == ["part: 2 of 30 queries missing from the run, counted as zero: q28, q29"]
    assert str(comparison).splitlines()[-1] == comparison.notes()[0]
    assert comparison.as_json()["notes"] == comparison.notes()


def test_lines_mark_what_is_significant():
    lines = str(compare(QRELS, RUNS, "nDCG@10 microF1@5", baseline="bm25")).splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [[run.name, m] for run in RUNS for m in ("nDCG@10", "microF1@5")]
    assert [line.endswith("*") for line in lines[1:]] == [False, False, False, False, True, False]
    assert lines[1].endswith("baseline")


@pytest.mark.parametrize(
    ("runs", "options", "says"),
    [
        (RUNS, {"baseline": "tfidf"}, "no run is called 'tfidf'; the baseline must be one of the runs: bm25, dense, hybrid"),
        (RUNS[:1], {"baseline": "bm25"}, "at least 2 runs"),
        ([RUNS[0], RUNS[0]], {"baseline": "bm25"}, "different names"),
        (RUNS, {"baseline": "bm25", "level": 0.0}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_compared(runs, options, says):
    with pytest.raises(ConfigError, match=says):
        compare(QRELS, runs, "RR", **options)


def test_one_query_cannot_be_tested():
    qrels = Qrels.of([("q1", "q1-1", 1)])
    with pytest.raises(ConfigError, match="at least 2 queries"):
        compare(qrels, RUNS, "RR", baseline="bm25")


def test_a_row_that_is_not_there():
    with pytest.raises(NotFoundError, match="'dense' under P@5 was not compared"):
        compare(QRELS, RUNS, "RR", baseline="bm25").row("dense", "P@5")


def test_the_first_run_is_the_baseline_if_none_is_named():
    assert compare(QRELS, RUNS, "nDCG@10").as_json() == compare(QRELS, RUNS, "nDCG@10", baseline=RUNS[0].name).as_json()
