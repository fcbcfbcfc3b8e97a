"""Fusion where there is little or nothing to fuse, and what is refused."""

import math

import numpy as np
import pytest

from lexfuse.channels.distribution import ScoreLevels
from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMax, CombMNZ
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import Identity, MinMax, Percentile, TheoreticalMinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing
from lexfuse.search.explanation import explain_fusion

pytestmark = pytest.mark.filterwarnings("ignore::lexfuse.errors.BoundWarning")  # rankings without stated bounds

ALL = [
    ReciprocalRank(),
    ReciprocalRank(missing=Missing.ZERO),
    SmoothReciprocalRank(),
    Borda(),
    Convex(),
    Convex(missing=Missing.ZERO),
    Convex(None, ZScore()),
    Convex(None, TheoreticalMinMax()),
    Convex(None, Identity()),
    Convex(None, Percentile()),
    TM2C2(),
    CombMNZ(),
    CombMax(),
]
every_fusion = pytest.mark.parametrize("fusion", ALL, ids=repr)


def values(normaliser, ranking):
    union = union_of([Run.of("a", {"q": ranking})])
    return dict(zip(union.doc_names(), normaliser.of(union, 0).tolist(), strict=True))


@pytest.mark.parametrize("score", [0.0, 3.0, -1.5, 0.1, 1e30, 1e-30])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_equal_scores_are_half_by_min_max_and_zero_by_z_score(score, count):
    ranking = {f"d{number}": score for number in range(count)}
    assert set(values(MinMax(), ranking).values()) == {0.5}
    assert set(values(ZScore(), ranking).values()) == {0.0}


def test_equal_scores_at_the_least_possible_are_half_by_theoretical_min_max_and_higher_ones_are_one():
    assert values(TheoreticalMinMax(), {"x": 0.0, "y": 0.0}) == {"x": 0.5, "y": 0.5}
    assert values(TheoreticalMinMax(), {"x": 2.0, "y": 2.0}) == {"x": 1.0, "y": 1.0}


def test_only_the_query_without_spread_is_level():
    union = union_of([Run.of("a", {"flat": {"x": 1.0, "y": 1.0}, "steep": {"x": 3.0, "y": 1.0}})])
    assert MinMax().of(union, 0).tolist() == [0.5, 0.5, 1.0, 0.0]
    assert ZScore().of(union, 0).tolist() == [0.0, 0.0, 1.0, -1.0]


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_small_scores_have_a_spread_too(scale):
    assert list(values(ZScore(), {"x": 3 * scale, "y": scale}).values()) == pytest.approx([1.0, -1.0], rel=1e-6)


@every_fusion
def test_one_document(fusion):
    fused = fusion.fuse([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {"x": 1.0}})], 10)
    assert [hit.doc for hit in fused.hits("q")] == ["x"]
    assert math.isfinite(fused.score[0])


@every_fusion
def test_an_empty_run_changes_no_ranking(fusion):
    full = Run.of("a", {"q": {"x": 3.0, "y": 2.0, "z": 1.0}})
    for empty in (Run.of("b", {"q": {}}), Run.of("b", {})):
        for runs in ([full, empty], [empty, full]):
            fused = fusion.fuse(runs, 10)
            assert [hit.doc for hit in fused.hits("q")] == ["x", "y", "z"]
            assert np.isfinite(fused.score).all()
            assert np.isnan(fused.parts["b"]).all()


@every_fusion
def test_nothing_but_empty_runs(fusion):
    assert len(fusion.fuse([Run.of("a", {"q": {}}), Run.of("b", {"q": {}})], 10)) == 0
    assert len(fusion.fuse([Run.of("a", {}), Run.of("b", {})], 10)) == 0


@every_fusion
def test_a_query_that_one_run_lacks_is_an_empty_ranking_there(fusion):
    a = {"q1": {"x": 3.0, "y": 1.0}, "q2": {"x": 1.0, "z": 0.5}}
    b = {"q3": {"z": 3.0}, "q2": {"z": 2.0, "y": 1.0}}
    fused = fusion.fuse([Run.of("a", a), Run.of("b", b)], 10)
    spelled = fusion.fuse([Run.of("a", {**a, "q3": {}}), Run.of("b", {**b, "q1": {}})], 10)
    assert set(fused.queries) == {"q1", "q2", "q3"}
    assert fused.as_dict() == spelled.as_dict()
    assert {hit.doc for hit in fused.hits("q2")} == {"x", "y", "z"}
    assert [hit.doc for hit in fused.hits("q1")] == ["x", "y"]
    assert [hit.parts for hit in fused.hits("q3")] == [{"b": 3.0}]


@every_fusion
def test_disjoint_documents_are_all_there(fusion):
    fused = fusion.fuse([Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"u": 2.0, "v": 1.0}})], 10)
    assert {hit.doc for hit in fused.hits("q")} == {"x", "y", "u", "v"}
    assert all(len(hit.parts) == 1 for hit in fused.hits("q"))


def test_one_run_alone_keeps_its_order():
    run = Run.of("a", {"q": {"x": 2.0, "y": 5.0, "z": 2.0}})
    for fusion in ALL:
        assert fusion.fuse([run], 10).hits("q")[0].doc == "y"


def test_ties_go_by_document_id():
    runs = [Run.of("a", {"q": {"b": 2.0, "a": 1.0}}), Run.of("b", {"q": {"a": 2.0, "b": 1.0}})]
    for fusion in ALL:
        hits = fusion.fuse(runs, 10).hits("q")
        if hits[0].score == hits[1].score:
            assert [hit.doc for hit in hits] == ["a", "b"], fusion
    assert [hit.doc for hit in ReciprocalRank().fuse(runs, 10).hits("q")] == ["a", "b"]


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan])
def test_scores_that_are_not_finite_are_refused(score):
    bad = Run("bad", Ids("q"), Ids("xy"), np.array([0, 1]), np.zeros(1, np.int32), np.array([score], np.float32))
    with pytest.raises(DataError, match=r"run 'bad': document 'x' has the score .*finite"):
        union_of([Run.of("a", {"q": {"x": 1.0}}), bad])


def test_a_source_that_answers_infinity_is_refused():
    class Broken:
        bounds = ScoreBounds(0.0)

        def score(self, queries, pairs):
            return np.full(len(pairs), np.inf, dtype=np.float32)

    runs = [Run.of("a", {"q": {"x": 1.0}}), Run.of("b", {"q": {"y": 1.0}})]
    with pytest.raises(DataError, match="'a' gave a score that is not finite"):
        TM2C2().fuse(runs, 10, sources=[Broken(), Broken()], queries=Queries.of([Query("q", "…")]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Convex((0.5, 0.6)), r"sum to 1, got \[0.5, 0.6\], which sum to 1.1"),
        (lambda: Convex((1.5, -0.5)), "0 or more"),
        (lambda: Convex((math.nan, 1.0)), "0 or more"),
        (lambda: ReciprocalRank(-1), "eta must be positive, got -1"),
        (lambda: ReciprocalRank(0), "eta must be positive"),
        (lambda: ReciprocalRank((60, math.inf)), "eta must be positive"),
        (lambda: ReciprocalRank(weights=-1), "0 or more"),
        (lambda: SmoothReciprocalRank(-5), "eta must be positive"),
        (lambda: SmoothReciprocalRank(beta=math.inf), "beta must be above 0"),
        (lambda: SmoothReciprocalRank(beta=math.nan), "beta must be above 0"),
        (lambda: TM2C2(1.1), "alpha must lie between 0 and 1, got 1.1"),
        (lambda: TM2C2(math.nan), "alpha must lie between 0 and 1"),
        (lambda: TM2C2(lexical=-1), "lexical sources must be 0 or more"),
    ],
)
def test_constants_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize("levels", [(), (1.0,), (1.0, 0.0), (0.0, math.inf), (0.0, math.nan)])
def test_what_is_no_distribution_is_refused(levels):
    with pytest.raises(DataError, match="at least two finite quantiles in rising order"):
        ScoreLevels(np.array(levels), np.linspace(0.0, 1.0, len(levels)))


@pytest.mark.parametrize(
    ("fusion", "message"),
    [
        (Convex((0.2, 0.3, 0.5)), "3 weights for 2 sources"),
        (Convex(None, (MinMax(), MinMax(), MinMax())), "3 normalisers for 2 sources"),
        (ReciprocalRank((60.0, 5.0, 1.0)), "eta has 3 values for 2 sources"),
        (ReciprocalRank(weights=(1.0,)), "weights has 1 values for 2 sources"),
    ],
)
def test_as_many_constants_as_sources(fusion, message):
    with pytest.raises(ConfigError, match=message):
        fusion.fuse([Run.of("a", {"q": {"x": 1.0}}), Run.of("b", {"q": {"x": 1.0}})], 10)


def test_theoretical_min_max_needs_a_lowest_score():
    class Unbounded:
        bounds = ScoreBounds(-math.inf)

        def score(self, queries, pairs):
            return np.zeros(len(pairs), dtype=np.float32)

    runs = [Run.of("a", {"q": {"x": 1.0}}), Run.of("b", {"q": {"y": 1.0}})]
    asking = {"sources": [Unbounded(), Unbounded()], "queries": Queries.of([Query("q", "…")])}
    with pytest.raises(ConfigError, match="source 'a' has no lowest possible score; take min-max or z-score"):
        TM2C2().fuse(runs, 10, **asking)
    assert len(Convex().fuse(runs, 10, **asking)) == 2


def test_rankings_that_do_not_belong_together_are_refused():
    run = Run.of("a", {"q": {"x": 1.0}})
    with pytest.raises(ConfigError, match="nothing to fuse"):
        union_of([])
    with pytest.raises(ConfigError, match="two rankings are called 'a'"):
        union_of([run, run])
    with pytest.raises(ConfigError, match="1 rankings need as many sources to ask, got 0"):
        union_of([run], [], Queries.of([Query("q", "…")]))
    with pytest.raises(ConfigError, match="only with the queries"):
        union_of([run], [None])
    with pytest.raises(DataError, match="'a' and 'b' have no query in common"):
        union_of([run, Run.of("b", {"p": {"x": 1.0}})])


@pytest.mark.parametrize("k", [0, -3])
def test_no_results_are_no_question(k):
    with pytest.raises(ConfigError, match=f"k must be at least 1, got {k}"):
        Borda().fuse([Run.of("a", {"q": {"x": 1.0}})], k)


def test_a_document_that_only_a_source_of_weight_zero_lists_is_explained_as_one_that_would_stand_there():
    runs = [Run.of("a", {"q": {"x": 3.0, "y": 1.0}}), Run.of("b", {"q": {"z": 9.0, "y": 5.0}})]
    union, fusion = union_of(runs), Convex((1.0, 0.0))
    assert fusion.scores(union).tolist() == [1.0, 0.0, -math.inf]
    assert fusion.fused(union, 10).as_dict() == {"q": {"x": 1.0, "y": 0.0}}
    found = explain_fusion(union, "z", fusion, [ReciprocalRank(), Convex()])
    assert (found.rank, found.score, found.listed) == (3, pytest.approx(0.0), True)  # after the last that the source lists
    assert [(part.score, part.weight, part.contribution) for part in found.parts] == [(None, 1.0, 0.0), (9.0, 0.0, 0.0)]
    rankings = {other.name: [hit.doc for hit in other.fuse(runs, 9).hits("q")] for other in (ReciprocalRank(), Convex())}
    assert dict(found.others) == {name: ranking.index("z") + 1 for name, ranking in rankings.items()}
    first = explain_fusion(union, "x", fusion)
    assert (first.rank, first.score) == (1, 1.0)


def test_no_weight_at_all_is_a_sum_of_nothing():
    runs = [Run.of("a", {"q": {"x": 3.0}}), Run.of("b", {"q": {"z": 9.0}})]
    assert ReciprocalRank(weights=(0.0, 0.0)).fuse(runs, 9).as_dict() == {"q": {"x": 0.0, "z": 0.0}}
