"""What must hold for every fusion of any rankings."""

import inspect
import math
import random
from dataclasses import replace
from functools import wraps
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMax, CombMNZ
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import MinMax, Percentile, TheoreticalMinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing
from lexfuse.optimisation.weight_surface import surface_of

pytestmark = pytest.mark.filterwarnings("ignore::lexfuse.errors.BoundWarning")  # rankings without stated bounds

DOCS = [f"d{number}" for number in range(9)]
QUERIES = [f"q{number}" for number in range(3)]
LOW = -5.0
SCORE = st.integers(-40, 120).map(lambda eighths: eighths / 8)  # exact in 32 bits, also after the transforms below
RANKING = st.dictionaries(st.sampled_from(DOCS), SCORE, max_size=7)
RANKINGS = st.fixed_dictionaries({query: RANKING for query in QUERIES})
SOURCES = st.lists(RANKINGS, min_size=2, max_size=3)
FULL = st.lists(
    st.fixed_dictionaries({doc: SCORE for doc in DOCS}).map(lambda ranking: {"q": ranking}), min_size=2, max_size=3
)  # every source knows every document

ANY_NUMBER = {
    "rrf": ReciprocalRank(5.0),
    "rrf zero": ReciprocalRank(5.0, missing=Missing.ZERO),
    "borda": Borda(),
    "min-max": Convex(),
    "min-max zero": Convex(missing=Missing.ZERO),
    "z-score": Convex(None, ZScore()),
    "theoretical": Convex(None, TheoreticalMinMax()),
    "tm2c2": TM2C2(),
    "combmnz": CombMNZ(),
    "combmax": CombMax(ZScore()),
}


def each_fusion(test):
    """Try every fusion on what was drawn: drawing takes longer than fusing, and every fusion would be given the same."""

    @wraps(test)
    def of_each(*drawn, **named):
        for name in ANY_NUMBER:
            try:
                test(name, *drawn, **named)
            except AssertionError as error:
                error.add_note(f"fusion: {name}")
                raise

    signature = inspect.signature(test)
    of_each.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
    return of_each


class Knowing:
    """A source that knows the score of every document, and the least that it can give."""

    def __init__(self, truth, low):
        self.truth = truth
        self.bounds = ScoreBounds(low)

    def score(self, queries, pairs):
        query = np.repeat(np.arange(len(pairs.queries)), np.diff(pairs.offsets)).tolist()
        names = zip(query, pairs.doc.tolist(), strict=True)
        return np.array([self.truth(pairs.queries[row], pairs.docs[doc]) for row, doc in names], dtype=np.float32)


def runs_of(rankings):
    return [Run.of(f"s{number}", ranking) for number, ranking in enumerate(rankings)]


def asked_for(queries=(*QUERIES, "q")):
    return Queries.of([Query(query, "…") for query in queries])


def close(one, other, tolerance=1e-6):
    assert one.keys() == other.keys()
    for query in one:
        assert one[query] == pytest.approx(other[query], rel=tolerance, abs=tolerance)


def near_ties(scores, tolerance=1e-5):
    ordered = sorted(scores.values())
    return any(after - before < tolerance for before, after in pairwise(ordered))


@given(SOURCES, st.sampled_from([MinMax(), ZScore(), TheoreticalMinMax()]), st.sampled_from(Missing))
@settings(max_examples=60)
def test_weight_one_on_a_source_gives_its_ranking(rankings, normaliser, missing):
    runs = runs_of(rankings)
    for chosen in range(len(runs)):
        weights = tuple(float(number == chosen) for number in range(len(runs)))
        for fusion in (Convex(weights, normaliser, missing), ReciprocalRank(weights=weights, missing=missing)):
            fused = fusion.fuse(runs, 100)
            for query in QUERIES:
                assert [hit.doc for hit in fused.hits(query)] == [hit.doc for hit in runs[chosen].hits(query)]


ANY_SCORE = st.floats(-1e4, 1e4, width=32)  # many lie so near to each other that normalised they are one 32-bit float
NEAR = st.integers(0, 9).map(lambda steps: float(np.float32(0.8) + np.float32(2.0**-24 * steps)))
CLOSE = st.fixed_dictionaries({query: st.dictionaries(st.sampled_from(DOCS), st.one_of(ANY_SCORE, NEAR)) for query in QUERIES})
RELEVANT = st.dictionaries(
    st.sampled_from(QUERIES), st.dictionaries(st.sampled_from(DOCS), st.integers(1, 3), min_size=1), min_size=1
)
MEASURES = ["nDCG", "AP", "R@5", "P@3", "RR", "Rprec", "nDCG@4"]


@given(st.lists(CLOSE, min_size=2, max_size=3), RELEVANT, st.sampled_from(MEASURES), st.sampled_from(Missing), st.data())
@settings(max_examples=40)
def test_weight_one_on_a_source_is_the_evaluation_of_its_run(rankings, judged, measure, missing, data):
    runs = [run.bounded(-1e4) for run in runs_of(rankings)]
    normaliser = data.draw(st.sampled_from([MinMax(), ZScore(), TheoreticalMinMax(), Percentile()]))
    fusion = data.draw(st.sampled_from([Convex(None, normaliser, missing), ReciprocalRank(missing=missing)]))
    qrels = Qrels.of((query, doc, grade) for query, docs in judged.items() for doc, grade in docs.items())
    corners = np.eye(len(runs))
    surface = surface_of(union_of(runs), fusion, qrels, measure, corners)
    for run, weights, values in zip(runs, corners, surface.values, strict=True):
        own = evaluate(qrels, run, measure).values(measure).tolist()
        assert values.tolist() == own
        weighed = replace(fusion, weights=tuple(weights.tolist()))
        assert evaluate(qrels, weighed.fuse(runs, 1000), measure).values(measure).tolist() == own


@given(st.lists(RANKINGS, min_size=3, max_size=3), st.integers(0, 2), st.sampled_from([MinMax(), ZScore(), TheoreticalMinMax()]))
@settings(max_examples=40)
def test_a_source_of_weight_zero_is_as_good_as_not_there(rankings, at, normaliser):
    runs = [run.bounded(LOW) for run in runs_of(rankings)]
    kept = [run for number, run in enumerate(runs) if number != at]
    for fusion in (Convex(None, normaliser), ReciprocalRank(5.0), SmoothReciprocalRank()):
        shares = [0.25, 0.75]
        shares.insert(at, 0.0)
        with_it, without = (
            replace(fusion, weights=tuple(shares)).fuse(runs, 100),
            replace(fusion, weights=(0.25, 0.75)).fuse(kept, 100),
        )
        assert with_it.as_dict() == without.as_dict()


@given(
    rankings=SOURCES, factors=st.tuples(*[st.sampled_from([0.5, 3.0, 10.0])] * 3), shifts=st.tuples(*[st.integers(-20, 20)] * 3)
)
@settings(max_examples=30)
@each_fusion
def test_positive_affine_transforms_change_nothing(name, rankings, factors, shifts):
    def asking(factors, shifts):
        def source(number):
            def truth(query, doc):
                return factors[number] * ((int(doc[1:]) * 7 + number) % 11 - 4.5) + shifts[number]

            return Knowing(truth, factors[number] * LOW + shifts[number])

        changed = [
            {
                query: {doc: factors[number] * score + shifts[number] for doc, score in hits.items()}
                for query, hits in ranking.items()
            }
            for number, ranking in enumerate(rankings)
        ]
        sources = [source(number) for number in range(len(rankings))]
        return ANY_NUMBER[name].fuse(runs_of(changed), 100, sources=sources, queries=asked_for())

    before, after = asking((1.0,) * 3, (0,) * 3), asking(factors, shifts)
    close(before.as_dict(), after.as_dict())
    for query in QUERIES:
        if not near_ties(before.as_dict()[query]):
            assert [hit.doc for hit in before.hits(query)] == [hit.doc for hit in after.hits(query)]


@given(SOURCES, st.integers(0, 2))
@settings(max_examples=60)
def test_a_document_below_the_depth_changes_no_score_of_tm2c2(rankings, chosen):
    """Lists one document longer, whose last is worse than all before: the others keep their scores, but not by min-max."""
    assume(all(any(ranking[query] for ranking in rankings) for query in QUERIES))

    def truth(query, doc):
        return LOW if doc == "late" else (int(doc[1:]) * 5) % 7 - 4.5

    sources = [Knowing(truth, LOW)] * len(rankings)
    longer = [dict(ranking) for ranking in rankings]
    at = chosen % len(rankings)
    longer[at] = {query: {**hits, "late": LOW} for query, hits in rankings[at].items()}
    assume(all(hits for hits in rankings[at].values()))
    before, after = (TM2C2().fuse(runs_of(each), 100, sources=sources, queries=asked_for()) for each in (rankings, longer))
    for query, scores in before.as_dict().items():
        found = after.as_dict()[query]
        assert found.pop("late") <= min(scores.values())
        assert found == scores


def test_min_max_scores_do_change_with_a_document_below_the_depth():
    short, long = ({"q": {"x": 3.0, "y": 2.0, "z": 1.0}}, {"q": {"x": 3.0, "y": 2.0, "z": 1.0, "late": 0.0}})
    other = {"q": {"y": 1.0, "x": 0.5}}
    before, after = (Convex().fuse(runs_of([each, other]), 9).as_dict()["q"]["y"] for each in (short, long))
    assert before != after


@given(FULL, st.sampled_from([5.0, 60.0]))
@settings(max_examples=40)
def test_smooth_reciprocal_ranks_tend_to_reciprocal_ranks(rankings, eta):
    assume(all(len(set(ranking["q"].values())) == len(DOCS) for ranking in rankings))
    runs = runs_of(rankings)
    hard = ReciprocalRank(eta).fuse(runs, 100).as_dict()["q"]
    for beta in (50.0, 100.0, 400.0, 1e6):
        smooth = SmoothReciprocalRank(eta, beta).fuse(runs, 100).as_dict()["q"]
        away = len(DOCS) * len(runs) * math.exp(-beta / 8)  # scores lie an eighth apart at least
        assert all(abs(smooth[doc] - hard[doc]) <= away + 1e-7 for doc in DOCS)


@given(rankings=FULL)
@settings(max_examples=40)
@each_fusion
def test_a_document_that_every_source_prefers_comes_first(name, rankings):
    fused = ANY_NUMBER[name].fuse(runs_of(rankings), 100).as_dict()["q"]
    for better in DOCS:
        for worse in DOCS:
            if all(ranking["q"][better] > ranking["q"][worse] for ranking in rankings):
                assert fused[better] >= fused[worse]


@given(rankings=FULL, doc=st.sampled_from(DOCS), at=st.integers(0, 1), more=st.integers(1, 100))
@settings(max_examples=40)
@each_fusion
def test_a_higher_score_in_a_source_never_lowers_the_fused_one(name, rankings, doc, at, more):
    higher = [dict(ranking["q"]) for ranking in rankings]
    higher[at][doc] += more / 8
    before = ANY_NUMBER[name].fuse(runs_of(rankings), 100).as_dict()["q"][doc]
    after = ANY_NUMBER[name].fuse(runs_of([{"q": ranking} for ranking in higher]), 100).as_dict()["q"][doc]
    level = {"min-max", "min-max zero", "combmnz"}  # equal scores are all worth 0.5, and the lowest of several is worth 0
    if name in level and len(set(rankings[at]["q"].values())) == 1:
        return
    assert after >= before - 1e-6


@given(rankings=SOURCES, k=st.integers(1, 8))
@settings(max_examples=30)
@each_fusion
def test_fewer_results_are_a_prefix_of_more(name, rankings, k):
    runs = runs_of(rankings)
    few, many = (ANY_NUMBER[name].fuse(runs, number) for number in (k, 100))
    for query in QUERIES:
        assert few.hits(query) == many.hits(query)[:k]


@pytest.mark.parametrize("name", ANY_NUMBER)
def test_ten_results_are_the_first_ten_of_a_hundred(name):
    generator = np.random.default_rng(3)
    rankings = [
        {query: {f"d{doc}": float(generator.integers(0, 40)) for doc in generator.permutation(300)[:150]} for query in QUERIES}
        for _ in range(3)
    ]
    ten, hundred = (ANY_NUMBER[name].fuse(runs_of(rankings), k) for k in (10, 100))
    for query in QUERIES:
        assert len(hundred.hits(query)) == 100
        assert ten.hits(query) == hundred.hits(query)[:10]


@given(rankings=SOURCES, order=st.randoms(use_true_random=False))
@settings(max_examples=30)
@each_fusion
def test_permuting_queries_and_documents_changes_nothing(name, rankings, order: random.Random):
    runs = runs_of(rankings)
    queries, docs = Ids(order.sample(QUERIES, len(QUERIES))), Ids(order.sample(DOCS, len(DOCS)))
    shuffled = []
    for run in runs:
        hits = [(query, hit.doc, hit.score) for query in QUERIES for hit in run.hits(query)]
        order.shuffle(hits)
        row, doc = queries.ordinals([hit[0] for hit in hits]), docs.ordinals([hit[1] for hit in hits])
        score = np.array([hit[2] for hit in hits], dtype=np.float32)
        shuffled.append(Run.from_arrays(run.name, queries, docs, row, doc, score))
    once, again = ANY_NUMBER[name].fuse(runs, 100), ANY_NUMBER[name].fuse(shuffled, 100)
    for query in QUERIES:
        assert [(hit.doc, hit.rank, hit.parts) for hit in once.hits(query)] == [
            (hit.doc, hit.rank, hit.parts) for hit in again.hits(query)
        ]
        assert [hit.score for hit in once.hits(query)] == [hit.score for hit in again.hits(query)]
