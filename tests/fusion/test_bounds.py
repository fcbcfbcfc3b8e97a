"""The lowest possible score of a ranking: stated, refused where a score contradicts it, assumed with a warning."""

import warnings

import numpy as np
import pytest

from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import BoundWarning, ConfigError, DataError
from lexfuse.fusion.comb import CombMax, CombMNZ
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import MinMax, TheoreticalMinMax
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation.fusion_weights import tune_weights

BM25 = Run.of("bm25", {"q1": {"a": 8.0, "b": 2.0}, "q2": {"c": 4.0}})
DENSE = Run.of("dense", {"q1": {"b": 0.6, "c": -0.2}, "q2": {"c": 0.5, "a": 0.25}})


def test_a_stated_bound_is_the_infimum_of_equation_4():
    fused = TM2C2(0.5).fuse([BM25.bounded(0.0), DENSE.bounded(-1.0)], 10).as_dict()["q1"]
    lowest = {"bm25": 2 / 8, "dense": (-0.2 + 1) / (0.6 + 1)}
    assert fused["b"] == pytest.approx(0.5 * 2 / 8 + 0.5)
    assert fused["a"] == pytest.approx(0.5 + 0.5 * lowest["dense"])
    assert fused["c"] == pytest.approx(0.5 * lowest["bm25"] + 0.5 * lowest["dense"])


def test_bounds_may_depend_on_the_query():
    run = DENSE.bounded({"q1": -32.0, "q2": -4.0})
    found = TheoreticalMinMax().of(union_of([run]), 0)
    assert found.tolist() == pytest.approx([1.0, (-0.2 + 32) / (0.6 + 32), 1.0, (0.25 + 4) / (0.5 + 4)])
    other = Run.of("other", {"q2": {"a": 1.0}, "q1": {"a": 1.0}}).bounded({"q1": -1.0, "q2": -2.0})
    assert union_of([run, other]).low.tolist() == [[-32.0, -4.0], [-1.0, -2.0]]  # by query, not by place
    assert union_of([run, other]).of_query(1).low.tolist() == [[-4.0], [-2.0]]
    assert union_of([run, Run.of("less", {"q2": {"a": 1.0}}).bounded(-3.0)]).low.tolist() == [[-32.0, -4.0], [0.0, -3.0]]


def test_a_score_below_the_stated_bound_is_refused_with_its_place():
    with pytest.raises(DataError) as error:
        DENSE.bounded(0.0)
    assert str(error.value) == (
        "run 'dense', query 'q1': document 'c' has the score -0.2, below the stated bound 0; "
        "state a bound that holds for every score"
    )
    with pytest.raises(DataError, match=r"query 'q2': document 'a' has the score 0\.25, below the stated bound 0\.3"):
        DENSE.bounded({"q1": -1.0, "q2": 0.3})
    assert Run.of("cosine", {"q": {"a": -1.0000001}}).bounded(-1.0).low.tolist() == [-1.0]  # rounding is no contradiction


@pytest.mark.parametrize(
    ("low", "said"), [(np.nan, "got nan"), (-np.inf, "got -inf"), ({"q1": -1.0}, "query 'q2'.*got nothing for it")]
)
def test_a_bound_is_a_number(low, said):
    with pytest.raises(ConfigError, match=said):
        DENSE.bounded(low)


@pytest.mark.parametrize(
    "fusion", [TM2C2(), Convex(None, TheoreticalMinMax()), Convex(None, [MinMax(), TheoreticalMinMax()]),
               CombMNZ(TheoreticalMinMax()), CombMax(TheoreticalMinMax())], ids=repr,
)  # fmt: skip
def test_a_bound_that_nobody_states_is_assumed_with_a_warning(fusion):
    assert fusion.uses_infimum()
    with pytest.warns(BoundWarning) as told:
        fusion.fuse([BM25.bounded(0.0), DENSE], 10)
    assert {str(one.message) for one in told} == {
        "the lowest possible score of 'dense' is not stated: -0.2, its lowest score, is assumed. Theoretical "
        "min-max (tm2c2) depends on it: state it with --bound dense=NUMBER, in Python with run.bounded(NUMBER); BM25 and SPLADE "
        "have 0, a cosine -1"
    }
    with pytest.warns(BoundWarning, match="'bm25' is not stated: 0 is assumed"):
        TM2C2().fuse([BM25, DENSE.bounded(-1.0)], 10)


def test_what_does_not_use_bounds_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fusion in (ReciprocalRank(), Convex()):
            assert not fusion.uses_infimum()
            fusion.fuse([BM25, DENSE], 10)
        TM2C2().fuse([BM25.bounded(0.0), Run.of("empty", {"q1": {}})], 10)


def test_tuning_warns_too():
    qrels = Qrels.of([("q1", "b", 1), ("q2", "c", 1)])
    with pytest.warns(BoundWarning, match="'dense' is not stated"):
        tune_weights(union_of([BM25.bounded(0.0), DENSE]), TM2C2(), qrels, "RR", folds=2)


class Source:
    bounds = ScoreBounds(-3.0)

    def score(self, queries, pairs):
        return np.full(len(pairs), -2.0, dtype=np.float32)


def test_what_a_run_states_goes_before_what_its_source_says():
    queries = Queries.of([Query("q1", "…"), Query("q2", "…")])
    union = union_of([BM25, DENSE.bounded(-1.0)], [Source(), Source()], queries)
    assert union.low.tolist() == [[-3.0, -3.0], [-1.0, -1.0]]
    assert union.stated == (True, True)
